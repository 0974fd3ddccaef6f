/**
 * What of Delta's protocol streamtop can read and write. A table that asks for more is refused by the feature's name, before a
 * byte of it is read or written (Delta protocol, "Requirements for Readers" and "for Writers").
 */
import { StreamtopError } from '../errors.js'
import type { Metadata, Protocol } from './actions.js'

/** What a table made by streamtop claims: any reader and writer of Delta can use it. */
export const PLAIN_PROTOCOL: Protocol = { minReaderVersion: 1, minWriterVersion: 2 }

/** Features that change nothing for a reader of the newest or an older version. */
const HARMLESS_TO_READERS = new Set(['timestampNtz', 'vacuumProtocolCheck', 'v2Checkpoint'])

/** @throws unsupported-feature when reading this table could give wrong rows */
export function checkReadable(table: string, protocol: Protocol, metadata: Metadata): void {
  const features = protocol.minReaderVersion >= 3 ? (protocol.readerFeatures ?? []) : []
  const unknown = features.find((feature) => !HARMLESS_TO_READERS.has(feature))
  if (unknown !== undefined) throw refused(table, 'read', `the reader feature ${unknown}`)
  const mapping = metadata.configuration['delta.columnMapping.mode'] ?? 'none'
  if (mapping !== 'none') throw refused(table, 'read', `column mapping (mode ${mapping})`)
  if (protocol.minReaderVersion > 3) throw refused(table, 'read', `reader version ${protocol.minReaderVersion}`)
}

/** @throws unsupported-feature when writing to this table could break what it promises */
export function checkWritable(table: string, protocol: Protocol, metadata: Metadata, removesRows: boolean): void {
  checkReadable(table, protocol, metadata)
  if (protocol.minWriterVersion > 2) {
    const features = protocol.writerFeatures?.join(', ')
    throw refused(table, 'write', features ? `the writer features ${features}` : `writer version ${protocol.minWriterVersion}`)
  }
  if (metadata.partitionColumns.length > 0) throw refused(table, 'write', `partitions (by ${metadata.partitionColumns.join(', ')})`)
  if (metadata.schemaString.includes('delta.invariants')) throw refused(table, 'write', 'column invariants')
  if (removesRows && metadata.configuration['delta.appendOnly'] === 'true') {
    throw new StreamtopError('unsupported-feature', `table ${table} is append-only (delta.appendOnly), and this write would change rows`, {
      hint: 'append instead, or unset the property',
      condition: 'DELTA_CANNOT_MODIFY_APPEND_ONLY',
    })
  }
}

function refused(table: string, verb: 'read' | 'write', what: string): StreamtopError {
  return new StreamtopError('unsupported-feature', `table ${table} uses ${what}, which streamtop cannot ${verb}`, {
    hint: 'use Spark for this table, or write a plain copy of it',
    condition: verb === 'read' ? 'DELTA_UNSUPPORTED_FEATURES_FOR_READ' : 'DELTA_UNSUPPORTED_FEATURES_FOR_WRITE',
  })
}
