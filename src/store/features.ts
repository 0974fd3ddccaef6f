/**
 * What of Delta's protocol streamtop can read and write. A table that asks for more is refused by the feature's name, before a
 * byte of it is read or written (Delta protocol, "Requirements for Readers" and "for Writers").
 */
import { StreamtopError } from '../errors.js'
import type { Metadata, Protocol } from './actions.js'
import { mappingModeOf } from './table-schema.js'

/** What a table made by streamtop claims: any reader and writer of Delta can use it. */
export const PLAIN_PROTOCOL: Protocol = { minReaderVersion: 1, minWriterVersion: 2 }

/** Features that a reader must know and that `readDataFile` knows, or that change nothing for a reader. */
const READ = new Set(['columnMapping', 'deletionVectors', 'timestampNtz', 'typeWidening', 'typeWidening-preview', 'v2Checkpoint', 'vacuumProtocolCheck'])
const MAPPING_MODES = new Set(['none', 'name', 'id'])

/** Features that a table of writer version 2 has anyway: both are looked after below. */
const WRITTEN = new Set(['appendOnly', 'invariants'])

/** @throws unsupported-feature when reading this table could give wrong rows */
export function checkReadable(table: string, protocol: Protocol, metadata: Metadata): void {
  if (protocol.minReaderVersion > 3) throw refused(table, 'read', `reader version ${protocol.minReaderVersion}`)
  const features = protocol.minReaderVersion === 3 ? (protocol.readerFeatures ?? []) : []
  const unknown = features.filter((feature) => !READ.has(feature))
  if (unknown.length > 0) throw refused(table, 'read', `the reader ${nameAll(unknown)}`)
  const mode = mappingModeOf(metadata)
  if (!MAPPING_MODES.has(mode)) throw refused(table, 'read', `column mapping (mode ${mode})`)
}

/** @throws unsupported-feature when writing to this table could break what it promises */
export function checkWritable(table: string, protocol: Protocol, metadata: Metadata, removesRows: boolean): void {
  checkReadable(table, protocol, metadata)
  if (protocol.minWriterVersion > 2) {
    const unknown = protocol.minWriterVersion === 7 ? (protocol.writerFeatures ?? []).filter((feature) => !WRITTEN.has(feature)) : null
    if (unknown === null) throw refused(table, 'write', `writer version ${protocol.minWriterVersion}`)
    if (unknown.length > 0) throw refused(table, 'write', `the writer ${nameAll(unknown)}`)
  }
  const mode = mappingModeOf(metadata)
  if (mode !== 'none') throw refused(table, 'write', `column mapping (mode ${mode})`)
  if (metadata.partitionColumns.length > 0) throw refused(table, 'write', `partitions (by ${metadata.partitionColumns.join(', ')})`)
  if (metadata.schemaString.includes('delta.invariants')) throw refused(table, 'write', 'column invariants')
  // Spark pads and measures what it writes to such columns; no feature of the protocol asks for it.
  if (metadata.schemaString.includes('__CHAR_VARCHAR_TYPE_STRING')) throw refused(table, 'write', 'char or varchar columns')
  if (removesRows && metadata.configuration['delta.appendOnly'] === 'true') {
    throw new StreamtopError('unsupported-feature', `table ${table} is append-only (delta.appendOnly), and this write would change rows`, {
      hint: 'append instead, or unset the property',
      condition: 'DELTA_CANNOT_MODIFY_APPEND_ONLY',
    })
  }
}

/** Writer features of tables whose files an optimize may write again as they are: they ask nothing of new files without deletion vectors. */
const COMPACTED = new Set([...WRITTEN, 'checkConstraints', 'deletionVectors', 'v2Checkpoint', 'vacuumProtocolCheck'])

/**
 * That a table's rows may be written again in other files, each file with the partition values that its rows had.
 * @throws unsupported-feature
 */
export function checkCompactable(table: string, protocol: Protocol, metadata: Metadata): void {
  checkReadable(table, protocol, metadata)
  if (protocol.minWriterVersion > 2 && protocol.minWriterVersion !== 7) throw refused(table, 'write', `writer version ${protocol.minWriterVersion}`)
  const unknown = (protocol.minWriterVersion === 7 ? (protocol.writerFeatures ?? []) : []).filter((feature) => !COMPACTED.has(feature))
  if (unknown.length > 0) throw refused(table, 'write', `the writer ${nameAll(unknown)}`)
  const mode = mappingModeOf(metadata)
  if (mode !== 'none') throw refused(table, 'write', `column mapping (mode ${mode})`)
}

/** Writer features that let a table's files be named in no other way than by adds, removes and deletion vectors. Change data lies in `_change_data`, which a vacuum passes over. */
const VACUUMED = new Set([
  ...[...COMPACTED, 'changeDataFeed', 'clustering', 'columnMapping', 'domainMetadata', 'generatedColumns', 'identityColumns'],
  ...['inCommitTimestamp', 'rowTracking', 'timestampNtz', 'typeWidening', 'typeWidening-preview', 'allowColumnDefaults'],
])

/**
 * That removing files is understood for this table: Delta's `vacuumProtocolCheck` asks it of readers and of writers.
 * @throws unsupported-feature
 */
export function checkVacuumable(table: string, protocol: Protocol, metadata: Metadata): void {
  checkReadable(table, protocol, metadata)
  if (protocol.minWriterVersion > 7) throw refused(table, 'write', `writer version ${protocol.minWriterVersion}`)
  const unknown = (protocol.minWriterVersion === 7 ? (protocol.writerFeatures ?? []) : []).filter((feature) => !VACUUMED.has(feature))
  if (unknown.length > 0) throw refused(table, 'write', `the writer ${nameAll(unknown)}`)
}

function nameAll(features: readonly string[]): string {
  return `${features.length === 1 ? 'feature' : 'features'} ${features.join(', ')}`
}

function refused(table: string, verb: 'read' | 'write', what: string): StreamtopError {
  return new StreamtopError('unsupported-feature', `table ${table} uses ${what}, which streamtop cannot ${verb}`, {
    hint: 'use Spark for this table, or write a plain copy of it',
    condition: verb === 'read' ? 'DELTA_UNSUPPORTED_FEATURES_FOR_READ' : 'DELTA_UNSUPPORTED_FEATURES_FOR_WRITE',
  })
}
