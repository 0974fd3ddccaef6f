/**
 * Days and microseconds since 1970-01-01 UTC to calendar text and back, in the proleptic Gregorian calendar, as Spark counts
 * them. Plain arithmetic on integers: exact from year -9999 to far past 9999, and no clock or time zone of this machine is in it.
 */

export const MICROS_PER_DAY = 86_400_000_000n

/** A calendar date; the month counts from 1, year 0 is 1 BC. */
export interface CivilDate {
  readonly year: number
  readonly month: number
  readonly day: number
}

/** Days since 1970-01-01 of a date that exists (see `daysInMonth`). */
export function daysFromCivil(year: number, month: number, day: number): number {
  // The year begins in March here, so that a leap day is its last day; 400 years have 146,097 days.
  const y = month <= 2 ? year - 1 : year
  const era = Math.floor(y / 400)
  const yearOfEra = y - era * 400
  const dayOfYear = Math.floor((153 * (month > 2 ? month - 3 : month + 9) + 2) / 5) + day - 1
  const dayOfEra = yearOfEra * 365 + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100) + dayOfYear
  return era * 146097 + dayOfEra - 719468
}

/** The date of a number of days since 1970-01-01. */
export function civilFromDays(days: number): CivilDate {
  const z = days + 719468
  const era = Math.floor(z / 146097)
  const dayOfEra = z - era * 146097
  const yearOfEra = Math.floor((dayOfEra - Math.floor(dayOfEra / 1460) + Math.floor(dayOfEra / 36524) - Math.floor(dayOfEra / 146096)) / 365)
  const dayOfYear = dayOfEra - (365 * yearOfEra + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100))
  const shiftedMonth = Math.floor((5 * dayOfYear + 2) / 153)
  const day = dayOfYear - Math.floor((153 * shiftedMonth + 2) / 5) + 1
  const month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
  return { year: yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, day }
}

export function daysInMonth(year: number, month: number): number {
  if (month === 2) return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0) ? 29 : 28
  return month === 4 || month === 6 || month === 9 || month === 11 ? 30 : 31
}

/** `2026-10-01`; years past 9999 have a plus and years before 0 a minus in front, as Spark prints them. */
export function formatDays(days: number): string {
  const { year, month, day } = civilFromDays(days)
  return `${formatYear(year)}-${twoDigits(month)}-${twoDigits(day)}`
}

/** Days since 1970-01-01 of `YYYY-MM-DD`, years 0001 to 9999; null when the text is not such a date. */
export function parseDays(text: string): number | null {
  const parts = /^(\d{4})-(\d{2})-(\d{2})$/.exec(text)
  if (!parts) return null
  const [year, month, day] = [Number(parts[1]), Number(parts[2]), Number(parts[3])]
  if (year < 1 || month < 1 || month > 12 || day < 1 || day > daysInMonth(year, month)) return null
  return daysFromCivil(year, month, day)
}

/** The day that a number of microseconds since 1970 falls on, and the microseconds since its midnight (never negative). */
export function splitMicros(micros: bigint): { readonly days: number; readonly microsOfDay: number } {
  let days = micros / MICROS_PER_DAY
  let microsOfDay = micros % MICROS_PER_DAY
  if (microsOfDay < 0n) {
    microsOfDay += MICROS_PER_DAY
    days -= 1n
  }
  return { days: Number(days), microsOfDay: Number(microsOfDay) }
}

/** `10:05:00` of the microseconds since midnight, without a fraction. */
export function formatClock(microsOfDay: number): string {
  const seconds = Math.floor(microsOfDay / 1_000_000)
  return `${twoDigits(Math.floor(seconds / 3600))}:${twoDigits(Math.floor(seconds / 60) % 60)}:${twoDigits(seconds % 60)}`
}

function formatYear(year: number): string {
  const digits = String(Math.abs(year)).padStart(4, '0')
  return year < 0 ? `-${digits}` : year > 9999 ? `+${digits}` : digits
}

function twoDigits(value: number): string {
  return value < 10 ? `0${value}` : String(value)
}
