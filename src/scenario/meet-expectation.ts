/** Whether what a scenario expects is so: each field beside what was found instead. */
import type { HistoryLine } from '../observe/table-history.js'
import type { Check, CheckValue, PlayError } from './play-event.js'
import type {
  CheckpointExpectation,
  ErrorExpectation,
  Expectation,
  QueryExpectation,
  TableExpectation,
  TopicExpectation,
  VersionExpectation,
} from './scenario.js'
import type { Scalar } from './shape.js'
import type { Stage } from './stage.js'

/** @param error what the line before failed with, null when it did not */
export async function meet(expectation: Expectation, error: PlayError | null, stage: Stage): Promise<readonly Check[]> {
  switch (expectation.kind) {
    case 'query':
      return ofQuery(expectation, stage)
    case 'table':
      return ofTable(expectation, stage)
    case 'checkpoint':
      return ofCheckpoint(expectation, stage)
    case 'topic':
      return ofTopic(expectation, stage)
    case 'error':
      return ofError(expectation, error)
  }
}

async function ofQuery({ query, fields }: QueryExpectation, stage: Stage): Promise<Check[]> {
  const status = (await stage.status()).queries.find(({ name }) => name === query)
  return Object.entries(fields).map(([field, expected]) => check(field, expected, status?.[field as keyof typeof fields] ?? null))
}

async function ofTable({ table, where, fields }: TableExpectation, stage: Stage): Promise<Check[]> {
  const status = (await stage.status()).tables.find(({ name }) => name === table)
  const isThere = status !== undefined
  const { exists, values, versions, ...counts } = fields
  const rows = where === null && values === undefined ? null : await stage.rows(table)
  const meant =
    rows === null || where === null ? rows : rows.filter((row) => Object.entries(where).every(([column, value]) => isSame(value, row[column] ?? null)))
  const counted = where === null || meant === null ? (status ?? null) : countsOf(meant)
  const missing = isThere ? null : 'no such table'
  return [
    ...(exists === undefined ? [] : [check('exists', exists, isThere)]),
    ...Object.entries(counts).map(([field, expected]) => check(field, expected, missing ?? counted?.[field as keyof typeof counts] ?? null)),
    ...Object.entries(values ?? {}).map(([column, value]) => valueCheck(column, value, missing, meant ?? [])),
    ...(versions === undefined ? [] : versionChecks(versions, missing, stage.history(table) ?? [])),
  ]
}

function countsOf(rows: readonly Readonly<Record<string, Scalar>>[]): { readonly rows: number; readonly distinct: number; readonly duplicates: number } {
  const distinct = new Set(rows.map((row) => JSON.stringify(row))).size
  return { rows: rows.length, distinct, duplicates: rows.length - distinct }
}

/** Met by every row that is meant; of those that differ one is told. */
function valueCheck(column: string, expected: Scalar, missing: string | null, rows: readonly Readonly<Record<string, Scalar>>[]): Check {
  if (missing !== null || rows.length === 0) return { field: column, expected, found: missing ?? 'no such row', isMet: false }
  const other = rows.find((row) => !isSame(expected, row[column] ?? null))
  const found = (other ?? rows[0])?.[column]
  return { field: column, expected, found: found === undefined ? 'no such column' : found, isMet: other === undefined }
}

/** Decimals, longs and times are texts in rows: a number is the same as the text of that number. */
function isSame(expected: Scalar, found: Scalar): boolean {
  if (typeof expected === 'number' && typeof found === 'string') return found.trim() !== '' && Number(found) === expected
  return expected === found
}

function versionChecks(expected: number | readonly VersionExpectation[], missing: string | null, newestFirst: readonly HistoryLine[]): Check[] {
  const lines = [...newestFirst].reverse()
  const isCount = typeof expected === 'number'
  const count = check('versions', isCount ? expected : expected.length, missing ?? lines.length)
  if (isCount || !count.isMet) return [count]
  return expected.map((version, index) => {
    const found = lines[index] as HistoryLine
    const named = Object.keys(version) as (keyof VersionExpectation)[]
    return check(`version ${found.version}`, version as CheckValue, Object.fromEntries(named.map((field) => [field, versionField(field, version, found)])))
  })
}

function versionField(field: keyof VersionExpectation, expected: VersionExpectation, { operation, query, batchId, rowsAdded, txns }: HistoryLine): CheckValue {
  switch (field) {
    case 'operation':
      return operation
    case 'query':
      return query
    case 'batch':
      return batchId
    case 'rows':
      return rowsAdded
    case 'txn': {
      const [txn] = txns
      if (txn === undefined) return null
      return typeof expected.txn === 'object' && expected.txn !== null ? { 'app-id': txn.appId, version: txn.version } : txn.version
    }
  }
}

function ofCheckpoint({ query, fields }: CheckpointExpectation, stage: Stage): Check[] {
  const checkpoint = stage.checkpoint(query)
  return Object.entries(fields).map(([field, expected]) => check(field, expected, checkpoint[field as keyof typeof fields]))
}

async function ofTopic({ topic, fields }: TopicExpectation, stage: Stage): Promise<Check[]> {
  const status = (await stage.status()).topics.find(({ name }) => name === topic)
  const ends = Object.fromEntries(Object.entries(status?.endOffsets ?? {}).map(([partition, end]) => [partition, Number(end)]))
  const found = { records: Object.values(ends).reduce((sum, end) => sum + end, 0), 'end-offsets': ends }
  return Object.entries(fields).map(([field, expected]) => check(field, expected, status ? found[field as keyof typeof found] : 'no such topic'))
}

function ofError({ fields }: ErrorExpectation, error: PlayError | null): Check[] {
  const { error: code, condition, says } = fields
  return [
    check('error', code, error?.code ?? 'none'),
    ...(condition === undefined ? [] : [check('condition', condition, error?.condition ?? null)]),
    ...(says === undefined ? [] : [{ field: 'says', expected: says, found: error?.message ?? null, isMet: error?.message.includes(says) ?? false }]),
  ]
}

function check(field: string, expected: CheckValue, found: CheckValue): Check {
  return { field, expected, found, isMet: inOrder(expected) === inOrder(found) }
}

/** JSON in which the order of fields does not matter. */
function inOrder(value: CheckValue): string {
  return JSON.stringify(value, (_, inner) =>
    typeof inner === 'object' && inner !== null && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).sort(([left], [right]) => (left < right ? -1 : 1)))
      : inner,
  )
}
