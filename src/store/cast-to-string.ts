/**
 * Values as text, letter by letter what Spark's `cast(column as string)` gives in UTC (Spark 4, ANSI mode): doubles as Java
 * prints them, decimals with their scale and no exponent, timestamps without the zeros at their end.
 */
import type { ColumnType } from './schema.js'
import type { Value } from './values.js'

/** The text of a value, null for null. Binary is read as UTF-8, as Spark does; `hexText` shows its bytes. */
export function castToString(type: ColumnType, value: Value): string | null {
  if (value === null) return null
  if (typeof value === 'number') {
    if (type.kind === 'double') return doubleText(value)
    if (type.kind === 'float') return floatText(value)
    return String(value)
  }
  if (value instanceof Uint8Array) return Buffer.from(value.buffer as ArrayBuffer, value.byteOffset, value.byteLength).toString('utf8')
  return value.toString()
}

/** Spark's `hex(binary)`: two capital digits a byte. */
export function hexText(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer as ArrayBuffer, bytes.byteOffset, bytes.byteLength)
    .toString('hex')
    .toUpperCase()
}

/** Java's Double.toString: `1.0`, `1.0E10`, `NaN`, `-Infinity`, with the fewest digits from two on that give the number back. */
export function doubleText(value: number): string {
  const text = value.toExponential()
  return javaText(value, text.includes('.') ? text : value.toExponential(1))
}

/** Java's Float.toString, of a number that is a 32-bit float. */
export function floatText(value: number): string {
  for (let digits = 1; digits <= 8; digits++) {
    const text = value.toExponential(digits)
    if (Math.fround(Number(text)) === value) return javaText(value, text)
  }
  return javaText(value, value.toExponential())
}

/** From `d.ddde±x` to Java's form: plain from 0.001 up to 10,000,000, with one digit behind the point at least; else `d.dddE±x`. */
function javaText(value: number, exponential: string): string {
  if (!Number.isFinite(value)) return String(value)
  if (value === 0) return Object.is(value, -0) ? '-0.0' : '0.0'
  const parts = /^(-?)(\d)(?:\.(\d+))?e([+-]\d+)$/.exec(exponential)
  const [, sign = '', first = '0', rest = '', power = '0'] = parts ?? []
  const exponent = Number(power)
  const fraction = rest.replace(/0+$/, '')
  const magnitude = Math.abs(value)
  if (magnitude < 1e-3 || magnitude >= 1e7) return `${sign}${first}.${fraction || '0'}E${exponent}`
  const digits = first + fraction
  if (exponent < 0) return `${sign}0.${'0'.repeat(-exponent - 1)}${digits}`
  const whole = digits.slice(0, exponent + 1).padEnd(exponent + 1, '0')
  return `${sign}${whole}.${digits.slice(exponent + 1) || '0'}`
}
