/** What a scenario may expect: of a query, a table, a checkpoint, a topic, and of a line that fails. */
import type { ErrorCode } from '../errors.js'
import type { QueryState, VerdictName } from '../observe/status.js'
import { queryName, rowValues, tableName, topicName } from './name-shapes.js'
import type { Expectation, QueryFields } from './scenario.js'
import { about, byField, either, fields, isList, isNumber, list, named, oneOf, type Shape, text, turned, whole } from './shape.js'

const MOST = 1_000_000_000
const PARTITION = /^(0|[1-9][0-9]{0,3})$/

const VERDICTS: readonly VerdictName[] = ['exactly-once', 'duplicated', 'missing', 'empty']
const STATES: readonly QueryState[] = ['running', 'idle', 'waiting', 'paused', 'killed', 'failed', 'stopped']
/** Every code, so that a misspelled one is found before anything runs. */
const ERROR_CODES = Object.keys({
  usage: true,
  'bad-name': true,
  'bad-config': true,
  'unknown-query': true,
  'unknown-table': true,
  'concurrent-query': true,
  conflict: true,
  'checkpoint-damaged': true,
  'checkpoint-gap': true,
  'checkpoint-foreign': true,
  'metadata-missing': true,
  'stateful-checkpoint': true,
  'several-sources': true,
  'range-changed': true,
  'table-damaged': true,
  'table-recreated': true,
  'foreign-workspace': true,
  'unsupported-feature': true,
  'unsupported-type': true,
  'unsupported-file-system': true,
  'disk-full': true,
  'disk-failed': true,
  'sync-failed': true,
  'not-permitted': true,
  'too-many-files': true,
  'version-vacuumed': true,
  'retention-too-short': true,
  'source-missing': true,
  'source-changed': true,
  'source-deleted': true,
  'source-truncated': true,
  'data-loss': true,
  'bad-record': true,
  'bad-value': true,
  'schema-mismatch': true,
  'merge-ambiguous': true,
  'idempotence-options': true,
  'foreach-batch-failed': true,
  'step-not-reached': true,
  'binding-missing': true,
  internal: true,
} satisfies Record<ErrorCode, true>) as ErrorCode[]

const count = whole(0, MOST)
const isTrue = oneOf([true, false])

const ofQuery = fields({ query: queryName }, {
  rows: about('of its table', count),
  distinct: about('whole rows that differ', count),
  duplicates: about('rows less distinct', count),
  rejected: about('records of its topic that are no rows', count),
  missing: about('rows of the source up to its newest commit that its table does not hold', count),
  verdict: oneOf(VERDICTS),
  state: oneOf(STATES),
  attempts: about('of all batches of this query id', count),
  replays: about('attempts that ran a batch again', count),
  skips: about('attempts of which a table skipped a write', count),
} satisfies { [Name in keyof QueryFields]-?: Shape<unknown> })

const version = fields(
  {},
  {
    operation: text('what the version calls itself, as history shows it', { most: 60 }),
    query: queryName,
    batch: whole(0, MOST),
    rows: about('that it adds', count),
    txn: either(either(oneOf([null]), whole(0, MOST), isNumber), fields({ 'app-id': text('an app id', { most: 128 }), version: whole(0, MOST) }, {})),
  },
)

const ofTable = fields(
  { table: tableName },
  {
    exists: isTrue,
    where: about('looks at the rows that have these values', rowValues),
    rows: count,
    distinct: count,
    duplicates: count,
    values: about('every row that is looked at has these, and there is one', rowValues),
    versions: about('how many, or what each is, oldest first', either(count, list(version, 'versions', 0, 50), isList)),
  },
)

const batches = list(whole(0, MOST), 'batches', 0, 200)

/** What stands behind `expect:`. At least one thing is expected of what is looked at. */
export const expectation: Shape<Expectation> = byField({
  query: expected(turned(ofQuery, ({ query, ...rest }): Expectation => ({ kind: 'query', query, fields: rest }))),
  table: expected(turned(ofTable, ({ table, where, ...rest }): Expectation => ({ kind: 'table', table, where: where ?? null, fields: rest }))),
  checkpoint: expected(
    turned(
      fields(
        { checkpoint: queryName },
        {
          offsets: about('batches in its offsets log', batches),
          commits: about('batches in its commits log', batches),
          metadata: about('whether it is there', isTrue),
        },
      ),
      ({ checkpoint, ...rest }): Expectation => ({ kind: 'checkpoint', query: checkpoint, fields: rest }),
    ),
  ),
  error: turned(
    fields(
      { error: about('the code of what the line before fails with', oneOf(ERROR_CODES)) },
      {
        condition: about("Spark's or Delta's name for it", text('the name of a condition', { most: 100 })),
        says: about('a part of its sentence', text('a part of the sentence', { most: 300 })),
      },
    ),
    (rest): Expectation => ({ kind: 'error', fields: rest }),
  ),
  topic: expected(
    turned(
      fields({ topic: topicName }, { records: count, 'end-offsets': named(count, 'a map of partitions and their end offsets', PARTITION, 100) }),
      ({ topic, ...rest }): Expectation => ({ kind: 'topic', topic, fields: rest }),
    ),
  ),
})

/** Refuses an expectation that can only be met. */
function expected(shape: Shape<Expectation>): Shape<Expectation> {
  return {
    ...shape,
    read(node, place) {
      const read = shape.read(node, place)
      return Object.keys(read.fields).length > 0 ? read : place.refuse(node, `something to expect: ${shape.expected}`, 'nothing that is expected')
    },
  }
}
