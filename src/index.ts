/** The public library: what a configuration file and an embedding program use. */
export { Batch, type AppendOptions, type JointAppend, type JointMerge, type JointWrite, type MergeOptions, type RowsToWrite } from './engine/batch.js'
export {
  type AppendSpec,
  append,
  type ForeachBatchSpec,
  foreachBatch,
  type QueryDefinition,
  type QueryOptions,
  query,
  type SinkSpec,
  type SourceSpec,
  type TableSpec,
  type TopicSpec,
  table,
  topic,
} from './engine/definition.js'
export { StreamtopError } from './errors.js'
export { BUILT_IN_QUERIES } from './queries/built-in.js'
export { orderEventsSchema, ordersSchema } from './queries/orders-schema.js'
export { Decimal } from './store/decimal.js'
export { type MergeSpec, newer } from './store/merge-spec.js'
export { defineSchema, type Schema } from './store/schema.js'
export { Timestamp } from './store/timestamp.js'
export type { Row, Value } from './store/values.js'
export { VERSION } from './version.js'
