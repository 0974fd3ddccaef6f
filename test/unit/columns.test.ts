/** Columns: schemas and their JSON, building, taking, slicing, joining and projecting rows. */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { StreamtopError } from '../../src/errors.js'
import { concatColumns, emptyColumns, projectColumns, sliceRows, takeRows } from '../../src/store/columns.js'
import { ColumnsBuilder } from '../../src/store/columns-builder.js'
import { columnsFromRows } from '../../src/store/columns-from-rows.js'
import { columnIndex, defineSchema, formatSchemaString, parseSchemaString, typeName } from '../../src/store/schema.js'
import { rowsOf } from '../../src/store/values.js'
import { anyRows, EVERY_KIND, readable } from './any-rows.js'

const orders = defineSchema({ order_id: 'int', customer_id: 'string', amount: 'decimal(10,2)', event_time: 'timestamp', offset: 'bigint' })

function codeOf(run: () => unknown): string {
  try {
    run()
  } catch (error) {
    return error instanceof StreamtopError ? `${error.code}: ${error.message}` : String(error)
  }
  return 'no error'
}

describe('schemas', () => {
  test('the JSON is Spark’s to the letter', () => {
    const text =
      '{"type":"struct","fields":[{"name":"order_id","type":"integer","nullable":true,"metadata":{}},{"name":"amount","type":"decimal(10,2)","nullable":true,"metadata":{}},{"name":"at","type":"timestamp","nullable":false,"metadata":{}}]}'
    const schema = defineSchema({ order_id: 'INT', amount: 'decimal(10, 2)', at: 'timestamp not null' })
    expect(formatSchemaString(schema)).toBe(text)
    expect(parseSchemaString(text)).toEqual(schema)
  })

  test('every type goes through the JSON', () => {
    expect(parseSchemaString(formatSchemaString(EVERY_KIND))).toEqual(EVERY_KIND)
    expect(EVERY_KIND.columns.map(({ type }) => typeName(type))).toContain('decimal(38,18)')
  })

  test('what streamtop does not hold is refused by name', () => {
    const withType = (type: unknown) => JSON.stringify({ type: 'struct', fields: [{ name: 'tags', type, nullable: true, metadata: {} }] })
    for (const type of [
      { type: 'array', elementType: 'string', containsNull: true },
      { type: 'struct', fields: [] },
      'timestamp_ntz',
      'variant',
      'decimal(39,0)',
      'decimal(4,5)',
      'int',
    ]) {
      expect(codeOf(() => parseSchemaString(withType(type)))).toMatch(/^unsupported-type: column tags has type /)
    }
    expect(codeOf(() => parseSchemaString('{"type":"struct"'))).toMatch(/^table-damaged/)
    expect(codeOf(() => parseSchemaString('[]'))).toMatch(/^table-damaged/)
  })

  test('names are found in any case', () => {
    expect(columnIndex(orders, 'ORDER_ID')).toBe(0)
    expect(columnIndex(orders, 'nothing')).toBe(-1)
    expect(codeOf(() => defineSchema({ a: 'int', A: 'int' }))).toMatch(/^bad-config/)
  })
})

describe('the builder', () => {
  test('rows come back as they were appended, past its first capacity', () => {
    const builder = new ColumnsBuilder(orders, 2)
    const [orderId, customer, amount, eventTime, offset] = builder.appenders
    for (let i = 0; i < 100; i++) {
      orderId?.appendInteger(i)
      if (i % 7 === 0) customer?.appendNull()
      else customer?.appendString(i % 2 === 0 ? `C${i}` : 'ü€😀'.repeat(i))
      if (i % 2 === 0) amount?.appendDecimal(-i * 1_000_000_000)
      else amount?.appendDecimal(BigInt(-i))
      eventTime?.appendTimestamp(i % 2 === 0 ? -i : BigInt(-i))
      offset?.appendLong(-(2 ** 53 - 1) + i)
    }
    const rows = [...rowsOf(builder.finish())]
    expect(rows).toHaveLength(100)
    expect(rows[0]?.['customer_id']).toBeNull()
    expect(rows[9]?.['customer_id']).toBe('ü€😀'.repeat(9))
    expect(String(rows[8]?.['amount'])).toBe('-80000000.00')
    expect(String(rows[9]?.['amount'])).toBe('-0.09')
    expect(String(rows[8]?.['event_time'])).toBe('1969-12-31 23:59:59.999992')
    expect(rows[3]?.['offset']).toBe(-9007199254740988n)
  })

  test('a row that is not whole is found', () => {
    const builder = new ColumnsBuilder(orders)
    builder.appender('order_id').appendInteger(1)
    expect(codeOf(() => builder.finish())).toMatch(/^internal: column customer_id got 0 values in 1 rows/)
  })
})

describe('rows', () => {
  test('taking, slicing and joining are what they are on plain arrays', () => {
    fc.assert(
      fc.property(anyRows(20), anyRows(5), fc.array(fc.nat(1000), { maxLength: 30 }), fc.nat(25), fc.nat(25), (rows, more, places, start, end) => {
        const columns = columnsFromRows(EVERY_KIND, rows)
        const plain = readable(columns)
        const indices = Int32Array.from(rows.length === 0 ? [] : places.map((place) => place % rows.length))
        expect(readable(takeRows(columns, indices))).toEqual([...indices].map((row) => plain[row]))
        expect(readable(sliceRows(columns, start, end))).toEqual(plain.slice(start, Math.max(start, end)))
        const other = columnsFromRows(EVERY_KIND, more)
        const parts = [sliceRows(columns, start, rows.length), emptyColumns(EVERY_KIND), other, takeRows(columns, indices)]
        expect(readable(concatColumns(EVERY_KIND, parts))).toEqual(parts.flatMap(readable))
      }),
      { numRuns: 60 },
    )
  })

  test('projecting finds columns by name, adds nulls, and refuses other types', () => {
    const columns = columnsFromRows(orders, [{ order_id: 1, customer_id: 'C01', amount: '25.50', offset: 7n }])
    const projected = projectColumns(columns, defineSchema({ note: 'string', CUSTOMER_ID: 'string', order_id: 'int not null' }))
    expect([...rowsOf(projected)]).toEqual([{ note: null, CUSTOMER_ID: 'C01', order_id: 1 }])
    expect(codeOf(() => projectColumns(columns, defineSchema({ order_id: 'bigint' })))).toBe(
      'schema-mismatch: column order_id is integer in the rows and long in the table',
    )
    expect(codeOf(() => projectColumns(columns, defineSchema({ amount: 'decimal(12,2)' })))).toMatch(/^schema-mismatch: column amount/)
    expect(codeOf(() => projectColumns(columns, defineSchema({ note: 'string not null' })))).toMatch(/^schema-mismatch: column note/)
    expect(codeOf(() => projectColumns(columns, defineSchema({ event_time: 'timestamp not null' })))).toMatch(/^schema-mismatch: column event_time/)
  })
})
