/**
 * Delta's file statistics, whoever wrote them, as bounds that can be trusted: numbers are read from their digits and never through a
 * float, and what is missing, misspelt or unknown is null, which proves nothing and so skips nothing.
 */
import { parseDays } from './civil-time.js'
import { tryParseDecimal } from './decimal.js'
import { type Column, findColumn, type Schema, storedName } from './schema.js'
import { type Comparable, compareValues } from './statistics.js'
import { tryParseTimestamp } from './timestamp.js'

/** What is known of a file's rows. Columns are named in any case. */
export interface FileStatistics {
  readonly rowCount: number | null
  /** No value of the column is less; null when that is not known. */
  min(column: string): Comparable | null
  /** No value of the column is greater; null when that is not known. */
  max(column: string): Comparable | null
  nullCount(column: string): number | null
}

/** Reads the text of `add.stats`; null or broken text gives statistics that know nothing. */
export function parseStatistics(text: string | null, schema: Schema): FileStatistics {
  const stats = text === null ? null : parseKeepingDigits(text)
  const bound = (group: string, name: string, read: (column: Column, value: string) => Comparable | null) => {
    const column = findColumn(schema, name)
    const value = column && memberOf(memberOf(stats, group), storedName(column))
    return column && typeof value === 'string' ? read(column, value) : null
  }
  return {
    rowCount: countIn(memberOf(stats, 'numRecords')),
    min: (name) => bound('minValues', name, (column, value) => readValue(column, value)),
    max: (name) => bound('maxValues', name, (column, value) => readMaximum(column, value)),
    nullCount(name) {
      const column = findColumn(schema, name)
      return countIn(memberOf(memberOf(stats, 'nullCount'), column ? storedName(column) : name))
    },
  }
}

/** False only when the statistics prove that the file has no row whose column lies between low and high, both included. */
export function mayContain(statistics: FileStatistics, column: string, low: Comparable, high: Comparable): boolean {
  const { rowCount } = statistics
  if (rowCount !== null && statistics.nullCount(column) === rowCount) return false
  const max = statistics.max(column)
  if (max !== null && compareValues(max, low) < 0) return false
  const min = statistics.min(column)
  return min === null || compareValues(min, high) <= 0
}

/** JSON with every number as a text of its digits: JSON.parse would make floats of them. */
function parseKeepingDigits(text: string): unknown {
  try {
    return JSON.parse(text.replace(STRING_OR_NUMBER, (token) => (token.startsWith('"') ? token : `"${token}"`)))
  } catch {
    return null
  }
}

const STRING_OR_NUMBER = /"[^"\\]*(?:\\.[^"\\]*)*"|-?\d[\d.eE+-]*/g

function memberOf(object: unknown, name: string): unknown {
  if (typeof object !== 'object' || object === null || !Object.hasOwn(object, name)) return undefined
  return (object as Readonly<Record<string, unknown>>)[name]
}

function countIn(value: unknown): number | null {
  return typeof value === 'string' && /^\d{1,15}$/.test(value) ? Number(value) : null
}

/** Writers cut a timestamp's maximum to milliseconds, so the greatest value may lie up to a millisecond past what is written. */
function readMaximum(column: Column, value: string): Comparable | null {
  const read = readValue(column, value)
  return column.type.kind === 'timestamp' && typeof read === 'bigint' ? read + 999n : read
}

function readValue({ type }: Column, text: string): Comparable | null {
  switch (type.kind) {
    case 'byte':
    case 'short':
    case 'integer':
      return /^-?\d{1,10}$/.test(text) ? Number(text) : null
    case 'long':
      return /^-?\d{1,19}$/.test(text) ? BigInt(text) : null
    case 'float':
      return readFloat(text, Math.fround)
    case 'double':
      return readFloat(text, Number)
    case 'decimal': {
      const unscaled = tryParseDecimal(text, type.precision, type.scale)
      return typeof unscaled === 'bigint' ? unscaled : null
    }
    case 'string':
      return text
    case 'date':
      return parseDays(text)
    case 'timestamp':
      return tryParseTimestamp(text)
    case 'boolean':
    case 'binary':
      return null
  }
}

/** Spark writes infinities as texts. It counts NaN as greater than every number; a bound of NaN is no bound here. */
function readFloat(text: string, round: (value: number) => number): number | null {
  if (!/^(-?\d[\d.]*([eE][+-]?\d+)?|-?Infinity)$/.test(text)) return null
  const value = round(Number(text))
  return Number.isNaN(value) ? null : value
}
