/**
 * A table's columns, and Delta's JSON for them (`schemaString`: a Spark struct type in JSON; Delta protocol, "Schema
 * Serialization Format"). Names are looked up without regard to case, as Spark does.
 */
import { StreamtopError } from '../errors.js'

export type ColumnType =
  | { readonly kind: 'byte' | 'short' | 'integer' | 'long' | 'float' | 'double' | 'boolean' | 'string' | 'binary' | 'date' | 'timestamp' }
  | { readonly kind: 'decimal'; readonly precision: number; readonly scale: number }

export interface Column {
  readonly name: string
  readonly type: ColumnType
  readonly nullable: boolean
  /** How a table's files hold the column, where that is not simply by its name; `tableSchema` finds it out. */
  readonly stored?: StoredColumn
}

/** A column that its table's files hold under another name (column mapping), or not at all (partitions). */
export interface StoredColumn {
  /** Its name in Parquet files, in statistics and among partition values. */
  readonly name: string
  /** The Parquet field by whose id it is found, where ids and not names count. */
  readonly fieldId: number | null
  /** Its value stands in the log, once for each file. */
  readonly isPartition: boolean
}

export interface Schema {
  readonly columns: readonly Column[]
}

/**
 * A schema from names and types: `defineSchema({ order_id: 'integer', amount: 'decimal(10,2)' })`. Types are Spark's names or
 * SQL's (`int`, `bigint`, `smallint`, `tinyint`); ` not null` behind one makes the column refuse nulls. Throws `bad-config` for a type it does not know or two
 * columns of one name.
 */
export function defineSchema(types: Readonly<Record<string, string>>): Schema {
  const columns = Object.entries(types).map(([name, text]): Column => {
    const words = text.trim().toLowerCase()
    const nullable = !/\snot\s+null$/.test(words)
    const type = parseType(nullable ? words : words.replace(/\s+not\s+null$/, ''))
    if (!type) throw new StreamtopError('bad-config', `column ${name} has type ${text}, which streamtop does not know`, { hint: `use one of ${TYPE_NAMES}` })
    return { name, type, nullable }
  })
  const twice = repeatedName(columns)
  if (twice !== null) throw new StreamtopError('bad-config', `two columns are called ${twice}`, { hint: 'names differ in more than case' })
  return { columns }
}

/** The schema in a table's metadata. Throws `unsupported-type` for arrays, maps, structs and other types streamtop does not hold, and `table-damaged` for broken JSON. */
export function parseSchemaString(text: string): Schema {
  const struct = parseJson(text)
  if (!isRecord(struct) || struct['type'] !== 'struct' || !Array.isArray(struct['fields'])) throw damaged(text)
  const columns = struct['fields'].map((field: unknown): Column => {
    if (!isRecord(field) || typeof field['name'] !== 'string') throw damaged(text)
    const name = field['name']
    const type = typeof field['type'] === 'string' && !SQL_SPELLINGS.has(field['type']) ? parseType(field['type']) : null
    if (!type) {
      throw new StreamtopError('unsupported-type', `column ${name} has type ${describeJsonType(field['type'])}, which streamtop does not hold`, {
        hint: `it holds ${TYPE_NAMES}`,
      })
    }
    return { name, type, nullable: field['nullable'] !== false }
  })
  const twice = repeatedName(columns)
  if (twice !== null) throw new StreamtopError('table-damaged', `the table's schema has two columns called ${twice}`)
  return { columns }
}

/** The schema as Spark writes it into a table's metadata. */
export function formatSchemaString(schema: Schema): string {
  const fields = schema.columns.map(({ name, type, nullable }) => ({ name, type: typeName(type), nullable, metadata: {} }))
  return JSON.stringify({ type: 'struct', fields })
}

/**
 * That a schema which nobody has checked, such as one made by hand, is one: a table made with another could not be read any more.
 * @throws bad-config
 */
export function checkSchema(schema: Schema): void {
  const columns: unknown = schema?.columns
  const hint = "defineSchema({ order_id: 'int', amount: 'decimal(10,2)' }) makes one"
  if (!Array.isArray(columns)) throw new StreamtopError('bad-config', 'a schema has a list of columns', { hint })
  for (const column of columns as readonly unknown[]) {
    if (!isRecord(column) || typeof column['name'] !== 'string' || column['name'] === '' || typeof column['nullable'] !== 'boolean') {
      throw new StreamtopError('bad-config', 'each column of a schema has a name, a type, and says whether it is nullable', { hint })
    }
    const type = column['type']
    if (!isRecord(type) || parseType(typeName(type as ColumnType)) === null) {
      const shown = isRecord(type) ? JSON.stringify(type) : String(type)
      throw new StreamtopError('bad-config', `column ${column['name']} of a schema has type ${shown}, which streamtop does not know`, { hint })
    }
  }
  const twice = repeatedName(schema.columns)
  if (twice !== null) throw new StreamtopError('bad-config', `two columns are called ${twice}`, { hint: 'names differ in more than case' })
}

/** Spark's name of a type: `integer`, `decimal(10,2)`. */
export function typeName(type: ColumnType): string {
  return type.kind === 'decimal' ? `decimal(${type.precision},${type.scale})` : type.kind
}

export function sameType(a: ColumnType, b: ColumnType): boolean {
  if (a.kind !== 'decimal' || b.kind !== 'decimal') return a.kind === b.kind
  return a.precision === b.precision && a.scale === b.scale
}

/** Where a column stands, whatever the case of its name; -1 when there is none. */
export function columnIndex(schema: Schema, name: string): number {
  const exact = schema.columns.findIndex((column) => column.name === name)
  return exact >= 0 ? exact : schema.columns.findIndex((column) => sameName(column.name, name))
}

/** The column of a name in any case, or null. */
export function findColumn(schema: Schema, name: string): Column | null {
  return schema.columns[columnIndex(schema, name)] ?? null
}

/** The column's name in the table's files. */
export function storedName(column: Column): string {
  return column.stored?.name ?? column.name
}

export function sameName(a: string, b: string): boolean {
  return a === b || a.toLowerCase() === b.toLowerCase()
}

const PLAIN_KINDS = new Set<string>(['byte', 'short', 'integer', 'long', 'float', 'double', 'boolean', 'string', 'binary', 'date', 'timestamp'])
const SQL_SPELLINGS: ReadonlyMap<string, string> = new Map([
  ['tinyint', 'byte'],
  ['smallint', 'short'],
  ['int', 'integer'],
  ['bigint', 'long'],
  ['real', 'float'],
])
const TYPE_NAMES = 'string, long, integer, short, byte, float, double, boolean, binary, date, timestamp, decimal(p,s)'

function parseType(text: string): ColumnType | null {
  const kind = SQL_SPELLINGS.get(text) ?? text
  if (PLAIN_KINDS.has(kind)) return { kind } as ColumnType
  const decimal = /^decimal\(\s*(\d{1,2})\s*,\s*(\d{1,2})\s*\)$/.exec(kind)
  if (!decimal) return null
  const [precision, scale] = [Number(decimal[1]), Number(decimal[2])]
  return precision >= 1 && precision <= 38 && scale <= precision ? { kind: 'decimal', precision, scale } : null
}

function repeatedName(columns: readonly Column[]): string | null {
  const seen = new Set<string>()
  for (const { name } of columns) {
    if (seen.has(name.toLowerCase())) return name
    seen.add(name.toLowerCase())
  }
  return null
}

function describeJsonType(type: unknown): string {
  if (typeof type === 'string') return type
  return isRecord(type) && typeof type['type'] === 'string' ? type['type'] : JSON.stringify(type)
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw damaged(text)
  }
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function damaged(text: string): StreamtopError {
  return new StreamtopError('table-damaged', `the table's schema cannot be read: ${JSON.stringify(text.slice(0, 80))}`)
}
