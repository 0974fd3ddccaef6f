/** A table with a column of every type, its ends and nulls in four files, as a query of a configuration file writes it; and conditions on it. */
import { doubleText } from './found-on-disk.js'
import type { Condition, TextRow } from './spark-worker.js'
import type { Seeded } from './seeded.js'

export type Kind = 'byte' | 'short' | 'integer' | 'long' | 'double' | 'boolean' | 'string' | 'binary' | 'decimal' | 'date' | 'timestamp'

export interface TypedColumn {
  readonly name: string
  /** As `defineSchema` takes it, and as SQL does. */
  readonly type: string
  readonly kind: Kind
}

export const TYPED_COLUMNS: readonly TypedColumn[] = [
  { name: 'tiny', type: 'tinyint', kind: 'byte' },
  { name: 'small', type: 'smallint', kind: 'short' },
  { name: 'i', type: 'int', kind: 'integer' },
  { name: 'l', type: 'bigint', kind: 'long' },
  { name: 'd', type: 'double', kind: 'double' },
  { name: 'b', type: 'boolean', kind: 'boolean' },
  { name: 's', type: 'string', kind: 'string' },
  { name: 'bin', type: 'binary', kind: 'binary' },
  { name: 'price', type: 'decimal(10,2)', kind: 'decimal' },
  { name: 'exact', type: 'decimal(38,10)', kind: 'decimal' },
  { name: 'day', type: 'date', kind: 'date' },
  { name: 'at', type: 'timestamp', kind: 'timestamp' },
]

/** The rows of each of four batches, as texts; binary in hexadecimal digits, doubles as JavaScript prints them. */
export function typedBatches(from: Seeded): TextRow[][] {
  const long = 'x'.repeat(40)
  return [
    [
      [
        '-128',
        '-32768',
        '-2147483648',
        '-9223372036854775808',
        '-Infinity',
        'false',
        '',
        '',
        '-99999999.99',
        `-${'9'.repeat(28)}.9999999999`,
        '0001-01-01',
        '0001-01-01 00:00:00',
      ],
      ['-127', '-2', '-5', '-9007199254740993', '-1.5', 'false', 'A', '00', '-0.01', '-0.0000000001', '1969-12-31', '1969-12-31 23:59:59.999999'],
      [null, null, null, null, null, null, null, null, null, null, null, null],
    ],
    [
      ['0', '0', '0', '0', '0', 'true', `${long}a`, '80FF', '0.00', '0.0000000000', '1970-01-01', '1970-01-01 00:00:00'],
      ['1', '1', '1', '1', '-0', null, `${long}b`, 'C3', '0.01', '0.0000000001', '1970-01-02', '1970-01-01 00:00:00.000001'],
    ],
    [
      [
        '126',
        '32766',
        '2147483646',
        '9007199254740993',
        '1.7976931348623157e308',
        'true',
        'ü€',
        'FFFF',
        '99999999.98',
        '1234567890.0987654321',
        '2026-10-01',
        '2026-10-01 09:15:00.123456',
      ],
      [
        '127',
        '32767',
        '2147483647',
        '9223372036854775807',
        'Infinity',
        'true',
        '😀',
        'FFFFFF',
        '99999999.99',
        `${'9'.repeat(28)}.9999999999`,
        '9999-12-31',
        '9999-12-31 23:59:59.999999',
      ],
      ['127', null, '7', null, 'NaN', 'false', '\uffee', null, null, '1.0000000000', null, '9999-12-31 23:59:59.999'],
    ],
    Array.from({ length: 12 }, (_, number) => seededRow(from).map((text, i) => (number === 0 && TYPED_COLUMNS[i]?.kind === 'double' ? 'NaN' : text))),
  ]
}

/** The configuration file: whatever the rows of the batch are, rows of these types are written. */
export function typedConfig(batches: readonly (readonly TextRow[])[]): string {
  const types = Object.fromEntries(TYPED_COLUMNS.map(({ name, type }) => [name, type]))
  const rows = batches.map((batch) => batch.map((row) => Object.fromEntries(TYPED_COLUMNS.map(({ name }, i) => [name, row[i]]))))
  return `import { defineSchema, foreachBatch, query, table } from 'streamtop'

const schema = defineSchema(${JSON.stringify(types)})
const batches = ${JSON.stringify(rows)}
const bytes = (row) => ({ ...row, bin: row.bin === null ? null : Uint8Array.from(Buffer.from(row.bin, 'hex')) })

export default [
  query('typed', table('bronze_orders'), foreachBatch((batch) => batch.append('typed', batches[batch.id].map(bytes), { schema }).then(() => {}))),
]
`
}

/** Rows as every reader must find them. */
export function expectedRows(batches: readonly (readonly TextRow[])[]): TextRow[] {
  return batches.flat().map((row) => row.map((text, i) => (text !== null && TYPED_COLUMNS[i]?.kind === 'double' ? doubleText(Number(text)) : text)))
}

/** A condition for Spark and delta-rs, and how many of the rows it finds by comparing their texts. */
export interface CountedCondition extends Condition {
  readonly column: string
  readonly rows: number
}

/**
 * `=`, `<` and `>` on each column with its smallest value, its largest and one between, and nulls.
 * @param rows as readers give them: doubles as their bytes
 */
export function conditionsOn(columns: readonly TypedColumn[], rows: readonly TextRow[]): CountedCondition[] {
  return columns.flatMap((column, i) => {
    const { name, kind } = column
    const all = rows.map((row) => row[i] ?? null)
    const values = [...new Set(all.flatMap((text) => (text === null ? [] : [text])))].sort((a, b) => order(kind, a, b))
    const chosen = new Set([values[0], values[Math.floor(values.length / 2)], values.at(-1)].flatMap((text) => text ?? []))
    const isNull = (sql: string, rowCount: number): CountedCondition => ({
      column: name,
      spark: `\`${name}\` ${sql}`,
      deltaRs: `"${name}" ${sql}`,
      rows: rowCount,
    })
    const nulls = all.filter((text) => text === null).length
    return [
      isNull('IS NULL', nulls),
      isNull('IS NOT NULL', all.length - nulls),
      ...[...chosen].flatMap((value) =>
        (['=', '<', '>'] as const).map((sign) => ({
          column: name,
          spark: `\`${name}\` ${sign} ${sparkLiteral(column, value)}`,
          // Arrow puts -0.0 before 0.0 and NaN behind all: another order than Spark's, on purpose.
          deltaRs: kind === 'double' && /^(NaN|[08]0{15})$/.test(value) ? null : `"${name}" ${sign} ${dataFusionLiteral(column, value)}`,
          rows: all.filter((text) => text !== null && holds(sign, order(kind, text, value))).length,
        })),
      ),
    ]
  })
}

function holds(sign: '=' | '<' | '>', compared: number): boolean {
  return sign === '=' ? compared === 0 : sign === '<' ? compared < 0 : compared > 0
}

/** Negative when a comes first, 0 when Spark says that they are equal. */
function order(kind: Kind, a: string, b: string): number {
  if (kind === 'double') {
    const [x, y] = [doubleOf(a), doubleOf(b)]
    if (Number.isNaN(x) || Number.isNaN(y)) return Number(Number.isNaN(x)) - Number(Number.isNaN(y))
    return x === y ? 0 : x < y ? -1 : 1
  }
  if (kind === 'string') return Buffer.compare(Buffer.from(a), Buffer.from(b))
  const [x, y] = [comparable(kind, a), comparable(kind, b)]
  return x === y ? 0 : x < y ? -1 : 1
}

function comparable(kind: Kind, text: string): string | bigint {
  if (kind === 'timestamp') return text.includes('.') ? text.padEnd(26, '0') : `${text}.000000`
  if (kind === 'boolean' || kind === 'binary' || kind === 'date') return text
  return BigInt(text.replace('.', ''))
}

function doubleOf(text: string): number {
  return text === 'NaN' ? Number.NaN : Buffer.from(text, 'hex').readDoubleBE(0)
}

function sparkLiteral({ kind, type }: TypedColumn, text: string): string {
  if (kind === 'string') return `CAST(X'${Buffer.from(text).toString('hex')}' AS STRING)`
  if (kind === 'binary') return `X'${text}'`
  return `CAST('${kind === 'double' ? doubleOf(text) : text}' AS ${type})`
}

function dataFusionLiteral({ kind, type }: TypedColumn, text: string): string {
  if (kind === 'string') return `'${text.replaceAll("'", "''")}'`
  if (kind === 'binary') return `X'${text}'`
  if (kind === 'timestamp') return `arrow_cast('${text.replace(' ', 'T')}', 'Timestamp(Microsecond, Some("UTC"))')`
  return `CAST('${kind === 'double' ? dataFusionDouble(doubleOf(text)) : text}' AS ${type})`
}

function dataFusionDouble(value: number): string {
  return Number.isFinite(value) ? String(value) : value > 0 ? 'inf' : '-inf'
}

function seededRow(from: Seeded): TextRow {
  const row = [
    String(from.whole(-128, 127)),
    String(from.whole(-32768, 32767)),
    String(from.whole(-(2 ** 31), 2 ** 31 - 1)),
    String(BigInt.asIntN(64, BigInt(from.whole(0, 2 ** 47)) * BigInt(from.whole(0, 2 ** 24)))),
    String(from.whole(-1e9, 1e9) / 1024),
    String(from.chance(50)),
    from.pick(['a', 'b', 'ß', 'zz', '']) + from.whole(0, 99),
    Buffer.from(String(from.whole(0, 99999)))
      .toString('hex')
      .toUpperCase(),
    decimal(BigInt(from.whole(-(10 ** 10), 10 ** 10)), 2),
    decimal(BigInt(from.whole(-(10 ** 14), 10 ** 14)) * 10n ** BigInt(from.whole(0, 23)), 10),
    `${from.whole(1900, 2100)}-${pad(from.whole(1, 12))}-${pad(from.whole(1, 28))}`,
    `${from.whole(1900, 2100)}-${pad(from.whole(1, 12))}-${pad(from.whole(1, 28))} ${pad(from.whole(0, 23))}:${pad(from.whole(0, 59))}:${pad(from.whole(0, 59))}.${from
      .whole(0, 999)
      .toString()
      .padStart(3, '0')}${from.whole(1, 9)}`,
  ]
  return row.map((text) => (from.chance(15) ? null : text))
}

function pad(number: number): string {
  return String(number).padStart(2, '0')
}

function decimal(unscaled: bigint, scale: number): string {
  const digits = (unscaled < 0n ? -unscaled : unscaled).toString().padStart(scale + 1, '0')
  return `${unscaled < 0n ? '-' : ''}${digits.slice(0, -scale)}.${digits.slice(-scale)}`
}
