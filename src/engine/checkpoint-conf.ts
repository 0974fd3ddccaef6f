/**
 * The session settings that Spark pins in `offsets/N` for the life of a query. streamtop's queries are stateless and obey none
 * of them; they are written so that Spark can go on where streamtop stopped, and what stands there is copied from batch to
 * batch, keys that streamtop does not know included.
 */

/** Setting to value, both as Spark writes them. */
export type CheckpointConf = Readonly<Record<string, string>>

/** The fifteen settings that Spark 4.2 writes, with its default values, in the order in which its map gives them. */
export const SPARK_CONF: CheckpointConf = {
  'spark.sql.streaming.stateStore.providerClass': 'org.apache.spark.sql.execution.streaming.state.HDFSBackedStateStoreProvider',
  'spark.sql.streaming.stateStore.rocksdb.mergeOperatorVersion': '2',
  'spark.sql.streaming.stateStore.rocksdb.formatVersion': '5',
  'spark.sql.streaming.queryEvolution.enableSourceEvolution': 'false',
  'spark.sql.streaming.stateStore.encodingFormat': 'unsaferow',
  'spark.sql.streaming.statefulOperator.useStrictDistribution': 'true',
  'spark.sql.streaming.flatMapGroupsWithState.stateFormatVersion': '2',
  'spark.sql.streaming.multipleWatermarkPolicy': 'min',
  'spark.sql.streaming.stateStore.rowChecksum.enabled': 'false',
  'spark.sql.streaming.aggregation.stateFormatVersion': '2',
  'spark.sql.function.protobufExtensions.enabled': 'false',
  'spark.sql.shuffle.partitions': '200',
  'spark.sql.streaming.join.stateFormatVersion': '2',
  'spark.sql.streaming.stateStore.compression.codec': 'lz4',
  'spark.sql.optimizer.pruneFiltersCanPruneStreamingSubplan': 'false',
}

/**
 * What the next batch's file says: the same again. After a file without any it gets Spark's defaults: streamtop's stateless queries can go on
 * without, but Spark cannot run a pending batch that has none.
 */
export function nextConf(conf: CheckpointConf): CheckpointConf {
  return Object.keys(conf).length === 0 ? SPARK_CONF : conf
}
