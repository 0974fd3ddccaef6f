/**
 * Exact decimal numbers: a whole number (`unscaled`) and how many of its digits stand behind the point (`scale`), up to 38
 * digits as in Spark. Text to decimal and back loses nothing; what does not fit is an error, never rounded.
 */
import { StreamtopError } from '../errors.js'

export const MAX_DECIMAL_PRECISION = 38

/** An exact decimal, immutable. `+`, `<` and `>` see it as the nearest number; `unscaled` is exact. */
export class Decimal {
  constructor(
    readonly unscaled: bigint,
    /** Digits behind the point, 0 or more. */
    readonly scale: number,
  ) {
    Object.freeze(this)
  }

  /** From text such as `25.50`, with as many digits behind the point as the text has. */
  static parse(text: string): Decimal {
    const digits = readDecimal(text)
    if (!digits || Math.abs(digits.exponent) > MAX_DIGITS) throw new StreamtopError('bad-value', `${JSON.stringify(text.slice(0, 60))} is not a decimal number`)
    const scale = Math.max(0, -digits.exponent)
    return new Decimal(digits.unscaled * powerOfTen(Math.max(0, digits.exponent)), scale)
  }

  /** The nearest number, which is exact only up to about 15 digits. */
  valueOf(): number {
    return Number(this.toString())
  }

  /** Plain digits, the scale kept: `25.50`. */
  toString(): string {
    return formatDecimal(this.unscaled, this.scale)
  }

  toJSON(): string {
    return this.toString()
  }

  [Symbol.for('nodejs.util.inspect.custom')](): string {
    return this.toString()
  }
}

/** Plain digits without an exponent, the scale kept: 2550n at scale 2 is `25.50`. */
export function formatDecimal(unscaled: bigint, scale: number): string {
  if (scale === 0) return unscaled.toString()
  const negative = unscaled < 0n
  const digits = (negative ? -unscaled : unscaled).toString().padStart(scale + 1, '0')
  const point = digits.length - scale
  return `${negative ? '-' : ''}${digits.slice(0, point)}.${digits.slice(point)}`
}

/** What kept a text from being a decimal of a column. */
export type DecimalProblem = 'not-a-number' | 'too-many-decimals' | 'out-of-range'

/**
 * The whole number that stands for a text at a column's scale: `25.5` at scale 2 is 2550n. Exponents are taken as JSON has them;
 * zeros past the scale are no loss. Throws `bad-value` when the text is no number, has more decimals than the scale, or more digits than the precision.
 */
export function parseDecimal(text: string, precision: number, scale: number): bigint {
  const unscaled = tryParseDecimal(text, precision, scale)
  if (typeof unscaled === 'bigint') return unscaled
  const shown = JSON.stringify(text.slice(0, 60))
  throw new StreamtopError('bad-value', `${shown} ${describeDecimalProblem(unscaled, precision, scale)}`)
}

/** As `parseDecimal`, a name of the problem instead of an error. */
export function tryParseDecimal(text: string, precision: number, scale: number): bigint | DecimalProblem {
  const digits = readDecimal(text)
  return digits ? rescale(digits.unscaled, -digits.exponent, precision, scale) : 'not-a-number'
}

/** A whole number at one scale as the whole number at a column's scale, exactly or not at all. */
export function rescale(unscaled: bigint, fromScale: number, precision: number, scale: number): bigint | DecimalProblem {
  if (unscaled === 0n) return 0n
  const shift = scale - fromScale
  let value = unscaled
  if (shift > 0) {
    if (shift > MAX_DECIMAL_PRECISION) return 'out-of-range'
    value *= powerOfTen(shift)
  } else if (shift < 0) {
    // No number of a column's size has more zeros at its end than a value that is too long to be looked at.
    if (-shift > MAX_DIGITS) return 'too-many-decimals'
    const divisor = powerOfTen(-shift)
    if (value % divisor !== 0n) return 'too-many-decimals'
    value /= divisor
  }
  const limit = powerOfTen(precision)
  return value >= limit || value <= -limit ? 'out-of-range' : value
}

/** The end of a sentence that begins with the value. */
export function describeDecimalProblem(problem: DecimalProblem, precision: number, scale: number): string {
  if (problem === 'not-a-number') return 'is not a decimal number'
  if (problem === 'too-many-decimals') return `has more than ${scale} digits behind the point`
  return `does not fit decimal(${precision},${scale})`
}

const MAX_DIGITS = 1000
const POWERS_OF_TEN = Array.from({ length: MAX_DECIMAL_PRECISION + 1 }, (_, exponent) => 10n ** BigInt(exponent))

function powerOfTen(exponent: number): bigint {
  return POWERS_OF_TEN[exponent] ?? 10n ** BigInt(exponent)
}

/** Digits and power of ten of a number's text, or null when it is none. */
function readDecimal(text: string): { readonly unscaled: bigint; readonly exponent: number } | null {
  if (text.length > MAX_DIGITS) return null
  const parts = /^([+-]?)(\d*)(?:\.(\d*))?(?:[eE]([+-]?\d{1,6}))?$/.exec(text)
  if (!parts) return null
  const [, sign, whole = '', fraction = '', exponent = '0'] = parts
  const digits = whole + fraction
  if (digits === '') return null
  // Fifteen digits are exact as a number, and becoming a number first is faster.
  const magnitude = digits.length <= 15 ? BigInt(Number(digits)) : BigInt(digits)
  return { unscaled: sign === '-' ? -magnitude : magnitude, exponent: Number(exponent) - fraction.length }
}
