/**
 * Points in time as Spark's TIMESTAMP has them: whole microseconds since 1970-01-01 00:00:00 UTC. Text without a zone is UTC,
 * and nothing depends on the zone of this machine.
 */
import { StreamtopError } from '../errors.js'
import { daysFromCivil, daysInMonth, formatClock, formatDays, splitMicros } from './civil-time.js'

/** 0001-01-01 00:00:00 and 9999-12-31 23:59:59.999999, the ends of SQL's type. */
export const MIN_TIMESTAMP_MICROS = -62_135_596_800_000_000n
export const MAX_TIMESTAMP_MICROS = 253_402_300_799_999_999n

/** One point in time, immutable. `<` and `>` compare two of them exactly. */
export class Timestamp {
  constructor(
    /** Microseconds since 1970-01-01 UTC. */
    readonly micros: bigint,
  ) {
    Object.freeze(this)
  }

  /** From text as `parseTimestamp` takes it. */
  static parse(text: string): Timestamp {
    return new Timestamp(parseTimestamp(text))
  }

  valueOf(): bigint {
    return this.micros
  }

  /** `2026-10-01 10:05:00`, with a fraction where there is one, its trailing zeros cut: Spark's cast to string in UTC. */
  toString(): string {
    return formatTimestamp(this.micros)
  }

  /** `2026-10-01T10:05:00.000000Z`, always six digits of fraction. */
  toISOString(): string {
    const { days, microsOfDay } = splitMicros(this.micros)
    return `${formatDays(days)}T${formatClock(microsOfDay)}.${fractionDigits(microsOfDay)}Z`
  }

  toJSON(): string {
    return this.toISOString()
  }

  [Symbol.for('nodejs.util.inspect.custom')](): string {
    return this.toString()
  }
}

/** Microseconds since 1970 as Spark casts a timestamp to string in UTC: `2026-10-01 10:05:00[.ffffff]`, trailing zeros cut. */
export function formatTimestamp(micros: bigint): string {
  const { days, microsOfDay } = splitMicros(micros)
  const whole = `${formatDays(days)} ${formatClock(microsOfDay)}`
  return microsOfDay % 1_000_000 === 0 ? whole : `${whole}.${fractionDigits(microsOfDay).replace(/0+$/, '')}`
}

/**
 * Microseconds since 1970 of an ISO text: `2026-10-01`, `2026-10-01T09:15`, `2026-10-01 09:15:00.123456`, each time with `Z` or an
 * offset such as `+02:00` behind it or, without one, in UTC. A fraction finer than microseconds is cut, as Spark does. Years 0001 to 9999.
 * Throws `bad-value` when the text is no such time.
 */
export function parseTimestamp(text: string): bigint {
  const micros = tryParseTimestamp(text)
  if (micros === null) throw new StreamtopError('bad-value', `${JSON.stringify(text.slice(0, 60))} is not a timestamp`)
  return micros
}

/** As `parseTimestamp`, null instead of an error. */
export function tryParseTimestamp(text: string): bigint | null {
  if (text.length > 40) return null
  const year = digitsAt(text, 0, 4)
  const month = digitsAt(text, 5, 2)
  const day = digitsAt(text, 8, 2)
  if (year < 1 || month < 1 || month > 12 || day < 1 || day > daysInMonth(year, month)) return null
  if (text.charCodeAt(4) !== DASH || text.charCodeAt(7) !== DASH) return null
  const midnightSeconds = daysFromCivil(year, month, day) * 86400
  if (text.length === 10) return BigInt(midnightSeconds) * 1_000_000n

  const separator = text.charCodeAt(10)
  const hour = digitsAt(text, 11, 2)
  const minute = digitsAt(text, 14, 2)
  if ((separator !== CAPITAL_T && separator !== SPACE) || text.charCodeAt(13) !== COLON) return null
  if (hour < 0 || hour > 23 || minute < 0 || minute > 59) return null
  let second = 0
  let fractionMicros = 0
  let at = 16
  if (text.charCodeAt(at) === COLON) {
    second = digitsAt(text, at + 1, 2)
    if (second < 0 || second > 59) return null
    at += 3
    if (text.charCodeAt(at) === POINT) {
      const start = at + 1
      for (at = start; isDigit(text.charCodeAt(at)); at++) {
        if (at - start < 6) fractionMicros = fractionMicros * 10 + text.charCodeAt(at) - ZERO
      }
      const digits = at - start
      if (digits === 0 || digits > 9) return null
      for (let d = digits; d < 6; d++) fractionMicros *= 10
    }
  }
  const offsetSeconds = zoneOffsetSeconds(text, at)
  if (offsetSeconds === null) return null
  // Whole seconds and their products fit a number up to the year 9999; the microseconds do not.
  const seconds = midnightSeconds + hour * 3600 + minute * 60 + second - offsetSeconds
  const micros = BigInt(seconds) * 1_000_000n + BigInt(fractionMicros)
  return micros < MIN_TIMESTAMP_MICROS || micros > MAX_TIMESTAMP_MICROS ? null : micros
}

/** Seconds east of UTC of what stands behind the time: nothing, `Z`, `+HH`, `+HH:MM` or `+HHMM`. */
function zoneOffsetSeconds(text: string, start: number): number | null {
  const length = text.length - start
  if (length === 0) return 0
  const sign = text.charCodeAt(start)
  if (length === 1) return sign === CAPITAL_Z || sign === SMALL_Z ? 0 : null
  if (sign !== PLUS && sign !== DASH) return null
  const hours = digitsAt(text, start + 1, 2)
  const minutes = length === 3 ? 0 : length === 5 ? digitsAt(text, start + 3, 2) : length === 6 ? digitsAt(text, start + 4, 2) : -1
  if (length === 6 && text.charCodeAt(start + 3) !== COLON) return null
  if (hours < 0 || minutes < 0 || minutes > 59 || hours * 60 + minutes > 18 * 60) return null
  return (sign === PLUS ? 60 : -60) * (hours * 60 + minutes)
}

/** The number in so many digits at a place, or -1 when one of them is no digit. */
function digitsAt(text: string, start: number, count: number): number {
  let value = 0
  for (let i = start; i < start + count; i++) {
    const code = text.charCodeAt(i)
    if (!isDigit(code)) return -1
    value = value * 10 + code - ZERO
  }
  return value
}

function isDigit(code: number): boolean {
  return code >= ZERO && code <= 57
}

function fractionDigits(microsOfDay: number): string {
  return String(microsOfDay % 1_000_000).padStart(6, '0')
}

const ZERO = 48
const DASH = 45
const PLUS = 43
const COLON = 58
const POINT = 46
const SPACE = 32
const CAPITAL_T = 84
const CAPITAL_Z = 90
const SMALL_Z = 122
