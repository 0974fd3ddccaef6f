/**
 * Rows made by a person's code into columns, exactly or not at all: a number that does not fit its column, a decimal with more digits
 * than the scale, or a null where none may be is an error that names the column and the row.
 */
import { StreamtopError } from '../errors.js'
import { isPromise } from '../is-promise.js'
import { parseDays } from './civil-time.js'
import type { Columns } from './columns.js'
import { type ColumnAppender, ColumnsBuilder } from './columns-builder.js'
import { Decimal, describeDecimalProblem, rescale, tryParseDecimal } from './decimal.js'
import { columnIndex, type Schema, typeName } from './schema.js'
import { Timestamp, tryParseTimestamp } from './timestamp.js'

/**
 * Rows into columns. What a column takes besides null (or nothing, which is null):
 *
 * - byte, short, integer, long: a whole number or bigint in range, or its text
 * - float, double: a number, or its text; for float the nearest 32-bit float
 * - decimal: `Decimal`, number, bigint or text; a number counts as the digits that JavaScript prints for it
 * - boolean: true, false, or their text
 * - string: a text
 * - binary: Uint8Array
 * - date: 'YYYY-MM-DD', or a JavaScript date at midnight UTC
 * - timestamp: `Timestamp`, an ISO text, a JavaScript date, or a bigint of microseconds since 1970
 *
 * Names are matched in any case. Throws `bad-value`, or `schema-mismatch` for a name that no column has.
 */
export function columnsFromRows(schema: Schema, rows: Iterable<object>): Columns {
  const builder = new ColumnsBuilder(schema, Array.isArray(rows) ? rows.length : 1024)
  let rowNumber = 0
  for (const row of rows) {
    checkIsRow(row, rowNumber)
    appendRow(builder, row as Readonly<Record<string, unknown>>, rowNumber)
    rowNumber++
  }
  if (schema.columns.length === 0) return { schema, rowCount: rowNumber, vectors: [] }
  return builder.finish()
}

/** What has no columns would be a row of nulls; most often it is the promise of a row that nobody waited for. */
function checkIsRow(row: unknown, rowNumber: number): void {
  const isObject = typeof row === 'object' && row !== null && !Array.isArray(row)
  if (isObject && !isPromise(row)) return
  const what = isObject ? 'a promise' : Array.isArray(row) ? 'a list' : row === null ? 'null' : describeValue(row)
  throw new StreamtopError('bad-value', `row ${rowNumber} is ${what}: a row is an object with a value for each column`, {
    ...(isObject ? { hint: 'wait for the rows first: await Promise.all(rows)' } : {}),
  })
}

function appendRow(builder: ColumnsBuilder, row: Readonly<Record<string, unknown>>, rowNumber: number): void {
  let found = 0
  for (const appender of builder.appenders) {
    const name = keyIn(row, appender.column.name)
    const value = name === null ? null : (row[name] ?? null)
    if (name !== null) found++
    if (value === null) appendNull(appender, rowNumber)
    else {
      const problem = appendValue(appender, value)
      if (problem !== null) {
        throw new StreamtopError(
          'bad-value',
          `row ${rowNumber}: column ${appender.column.name} is ${typeName(appender.column.type)}; ${describeValue(value)} ${problem}`,
        )
      }
    }
  }
  const names = Object.keys(row)
  if (names.length > found) throw unknownColumn(builder.schema, names)
}

/** The row's own name for a column; null when it has none. */
function keyIn(row: object, column: string): string | null {
  if (Object.hasOwn(row, column)) return column
  const lower = column.toLowerCase()
  for (const name of Object.keys(row)) if (name.toLowerCase() === lower) return name
  return null
}

function unknownColumn(schema: Schema, names: readonly string[]): StreamtopError {
  const unknown = names.find((name) => columnIndex(schema, name) < 0)
  if (unknown === undefined) return new StreamtopError('schema-mismatch', `a row names one column twice: ${names.join(', ')}`)
  return new StreamtopError('schema-mismatch', `a row has ${unknown}, and the table has no such column`, {
    hint: `the table's columns are ${schema.columns.map((column) => column.name).join(', ')}`,
  })
}

function appendNull(appender: ColumnAppender, rowNumber: number): void {
  if (!appender.column.nullable) {
    throw new StreamtopError('bad-value', `row ${rowNumber}: column ${appender.column.name} is null and may not be`, {
      condition: 'DELTA_NOT_NULL_CONSTRAINT_VIOLATED',
    })
  }
  appender.appendNull()
}

/** Appends a value, or says what is wrong with it: the end of a sentence that begins with the value. */
function appendValue(appender: ColumnAppender, value: unknown): string | null {
  const { type } = appender.column
  switch (type.kind) {
    case 'byte':
    case 'short':
    case 'integer': {
      const whole = wholeNumber(value)
      const limit = INTEGER_LIMITS[type.kind]
      if (whole === null) return 'is not a whole number'
      if (whole < -limit || whole >= limit) return 'is out of range'
      appender.appendInteger(Number(whole))
      return null
    }
    case 'long': {
      const whole = wholeNumber(value)
      if (whole === null)
        return typeof value === 'number' && Number.isInteger(value) ? 'is past the whole numbers that are exact: use a bigint' : 'is not a whole number'
      if (typeof whole === 'bigint' && BigInt.asIntN(64, whole) !== whole) return 'is out of range'
      appender.appendLong(whole)
      return null
    }
    case 'float':
    case 'double': {
      const number = floatingNumber(value)
      if (number === null) return 'is not a number'
      const stored = type.kind === 'float' ? Math.fround(number) : number
      if (Number.isFinite(number) && !Number.isFinite(stored)) return 'is out of range'
      appender.appendDouble(stored)
      return null
    }
    case 'decimal': {
      const unscaled = unscaledValue(value, type.precision, type.scale)
      if (typeof unscaled === 'string') return describeDecimalProblem(unscaled, type.precision, type.scale)
      appender.appendDecimal(unscaled)
      return null
    }
    case 'boolean': {
      if (value !== true && value !== false && value !== 'true' && value !== 'false') return 'is not true or false'
      appender.appendBoolean(value === true || value === 'true')
      return null
    }
    case 'string': {
      if (typeof value !== 'string') return 'is not a text'
      if (!isWellFormed(value)) return 'has half of a surrogate pair, which UTF-8 cannot hold'
      appender.appendString(value)
      return null
    }
    case 'binary': {
      if (!(value instanceof Uint8Array)) return 'is not a Uint8Array'
      appender.appendBytes(value)
      return null
    }
    case 'date': {
      const days = dayNumber(value)
      if (days === null) return 'is not a date (YYYY-MM-DD)'
      appender.appendDays(days)
      return null
    }
    case 'timestamp': {
      const micros = microseconds(value)
      if (micros === null) return 'is not a timestamp'
      appender.appendTimestamp(micros)
      return null
    }
  }
}

const INTEGER_LIMITS = { byte: 2 ** 7, short: 2 ** 15, integer: 2 ** 31 } as const

/** Null when it is none, or is a number too big to be known exactly. */
function wholeNumber(value: unknown): number | bigint | null {
  if (typeof value === 'number') return Number.isSafeInteger(value) ? value : null
  if (typeof value === 'bigint') return value
  if (typeof value === 'string' && /^[+-]?\d{1,20}$/.test(value)) return BigInt(value.replace('+', ''))
  return null
}

function floatingNumber(value: unknown): number | null {
  if (typeof value === 'number') return value
  if (typeof value === 'bigint') return BigInt(Number(value)) === value ? Number(value) : null
  if (value instanceof Decimal) return value.valueOf()
  if (typeof value !== 'string') return null
  if (/^(NaN|[+-]?Infinity)$/.test(value)) return Number(value)
  return /^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$/.test(value) ? Number(value) : null
}

function unscaledValue(value: unknown, precision: number, scale: number) {
  if (value instanceof Decimal) return rescale(value.unscaled, value.scale, precision, scale)
  if (typeof value === 'bigint') return rescale(value, 0, precision, scale)
  if (typeof value === 'number' || typeof value === 'string') return tryParseDecimal(String(value), precision, scale)
  return 'not-a-number' as const
}

function dayNumber(value: unknown): number | null {
  if (typeof value === 'string') return parseDays(value)
  const milliseconds = millisecondsOf(value)
  return milliseconds !== null && milliseconds % 86_400_000 === 0 ? milliseconds / 86_400_000 : null
}

function microseconds(value: unknown): bigint | null {
  if (value instanceof Timestamp) return inLongRange(value.micros)
  if (typeof value === 'bigint') return inLongRange(value)
  if (typeof value === 'string') return tryParseTimestamp(value)
  const milliseconds = millisecondsOf(value)
  return milliseconds === null ? null : BigInt(milliseconds) * 1000n
}

function inLongRange(micros: bigint): bigint | null {
  return BigInt.asIntN(64, micros) === micros ? micros : null
}

/** Milliseconds since 1970 of a JavaScript date, known by its method; null for anything else and for an invalid one. */
function millisecondsOf(value: unknown): number | null {
  if (typeof value !== 'object' || value === null || !('getTime' in value) || typeof value.getTime !== 'function') return null
  const milliseconds: unknown = value.getTime()
  return typeof milliseconds === 'number' && Number.isInteger(milliseconds) ? milliseconds : null
}

/** No half of a surrogate pair alone. */
function isWellFormed(text: string): boolean {
  return !/\p{Surrogate}/u.test(text)
}

function describeValue(value: unknown): string {
  const text = typeof value === 'string' ? JSON.stringify(value) : typeof value === 'object' ? Object.prototype.toString.call(value) : String(value)
  if (value instanceof Decimal || value instanceof Timestamp) return value.toString()
  return text.length > 60 ? `${text.slice(0, 57)}...` : text
}
