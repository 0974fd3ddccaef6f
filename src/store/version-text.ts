/**
 * The text of one version of a Delta table: JSON, one action a line, each line ended by a newline (Delta protocol, "Delta Log
 * Entries"). Spark's order is kept: commitInfo, metaData, protocol, txn, adds, removes.
 */
import { StreamtopError } from '../errors.js'
import type { AddFile, DeletionVector, Metadata, Protocol, RemoveFile, Txn, VersionActions } from './actions.js'
import { checkText, sealText, TEXT_CHECKSUM_TO_COME } from './text-checksum.js'

/** The text that says these actions, and its own checksum in `commitInfo`. */
export function formatVersion(actions: VersionActions): string {
  const lines: unknown[] = []
  if (actions.commitInfo) lines.push({ commitInfo: { ...withoutChecksum(actions.commitInfo), ...TEXT_CHECKSUM_TO_COME } })
  if (actions.metadata) lines.push({ metaData: metadataJson(actions.metadata) })
  if (actions.protocol) lines.push({ protocol: actions.protocol })
  for (const txn of actions.txns) lines.push({ txn: { appId: txn.appId, version: txn.version, lastUpdated: txn.lastUpdatedMs } })
  for (const add of actions.adds) lines.push({ add: addJson(add) })
  for (const remove of actions.removes) lines.push({ remove: removeJson(remove) })
  return sealText(lines.map((line) => `${JSON.stringify(line)}\n`).join(''))
}

/** The checksum comes last, also where the actions were read from a text that has one. */
function withoutChecksum({ textCrc32: _, ...commitInfo }: Record<string, unknown>): Record<string, unknown> {
  return commitInfo
}

/**
 * The actions that a version's text says. Unknown actions and fields are passed over, as the protocol asks.
 * @param where names the file in an error
 * @throws table-damaged when there is no line, one is not a JSON object, an action lacks what it must have, or the text's checksum does not fit
 */
export function parseVersion(text: string, where: string): VersionActions {
  // No writer commits nothing; a loss of power leaves empty files of those who do not sync theirs.
  if (text.trim() === '') throw truncated(`${where} is empty`)
  checkText(text, where)
  return actionsOf(parsedLines(text.split('\n').entries(), where), where)
}

/** One line of a version, or one row of a table checkpoint: an object with the action under its name. */
export type ActionObject = Readonly<Record<string, unknown>>

/** The actions that objects say. Throws as `parseVersion`. */
export function actionsOf(objects: Iterable<ActionObject>, where: string): VersionActions {
  let commitInfo: Record<string, unknown> | null = null
  let metadata: Metadata | null = null
  let protocol: Protocol | null = null
  const txns: Txn[] = []
  const adds: AddFile[] = []
  const removes: RemoveFile[] = []
  for (const action of objects) {
    if (isObject(action.commitInfo)) commitInfo = action.commitInfo
    else if (isObject(action.metaData)) metadata = toMetadata(action.metaData, where)
    else if (isObject(action.protocol)) protocol = toProtocol(action.protocol)
    else if (isObject(action.txn)) txns.push(toTxn(action.txn))
    else if (isObject(action.add)) adds.push(toAdd(action.add, where))
    else if (isObject(action.remove)) removes.push(toRemove(action.remove, where))
  }
  return { commitInfo, metadata, protocol, txns, adds, removes }
}

/** The rows that statistics say a file has; null when they do not. */
export function rowCountOf(statistics: string | null): number | null {
  const found = statistics === null ? null : /"numRecords"\s*:\s*(\d+)/.exec(statistics)
  return found ? Number(found[1]) : null
}

/** The live rows that a file's statistics and deletion vector say it has; null when they do not. */
export function liveRowCountOf({ statistics, deletionVector }: Pick<AddFile, 'statistics' | 'deletionVector'>): number | null {
  const all = rowCountOf(statistics)
  return all === null ? null : all - (deletionVector?.cardinality ?? 0)
}

/** The deletion vector's part of a file's key: a file with another vector is another file (Delta protocol, "Action Reconciliation"). */
export function deletionVectorId(vector: DeletionVector | null): string {
  if (vector === null) return ''
  return `${vector.storageType}${vector.pathOrInlineDv}${vector.offset === undefined ? '' : `@${vector.offset}`}`
}

function metadataJson(metadata: Metadata): unknown {
  return {
    id: metadata.id,
    format: { provider: 'parquet', options: {} },
    schemaString: metadata.schemaString,
    partitionColumns: metadata.partitionColumns,
    configuration: metadata.configuration,
    ...(metadata.createdTimeMs === null ? {} : { createdTime: metadata.createdTimeMs }),
  }
}

function addJson(add: AddFile): unknown {
  return {
    path: encodePath(add.path),
    partitionValues: add.partitionValues,
    size: add.size,
    modificationTime: add.modifiedMs,
    dataChange: add.dataChange,
    ...(add.statistics === null ? {} : { stats: add.statistics }),
    ...(add.deletionVector === null ? {} : { deletionVector: add.deletionVector }),
  }
}

function removeJson(remove: RemoveFile): unknown {
  return {
    path: encodePath(remove.path),
    ...(remove.deletedMs === null ? {} : { deletionTimestamp: remove.deletedMs }),
    dataChange: remove.dataChange,
    extendedFileMetadata: true,
    partitionValues: remove.partitionValues,
    ...(remove.size === null ? {} : { size: remove.size }),
    ...(remove.deletionVector === null ? {} : { deletionVector: remove.deletionVector }),
    ...(remove.rowCount === null ? {} : { stats: JSON.stringify({ numRecords: remove.rowCount }) }),
  }
}

function* parsedLines(lines: Iterable<[number, string]>, where: string): Generator<ActionObject> {
  for (const [index, line] of lines) if (line.trim() !== '') yield parseLine(line, `${where}, line ${index + 1}`)
}

function parseLine(line: string, where: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(line)
    if (isObject(value)) return value
  } catch {
    // said below, with the place
  }
  throw truncated(`${where} is not an action of a Delta table`)
}

function truncated(what: string): StreamtopError {
  return new StreamtopError('table-damaged', what, {
    hint: 'restore the file from a copy, or drop the table',
    condition: 'DELTA_TRUNCATED_TRANSACTION_LOG',
  })
}

function toMetadata(json: Record<string, unknown>, where: string): Metadata {
  return {
    id: text(json.id, 'metaData.id', where),
    schemaString: text(json.schemaString, 'metaData.schemaString', where),
    partitionColumns: Array.isArray(json.partitionColumns) ? json.partitionColumns.map(String) : [],
    configuration: stringMap(json.configuration) as Record<string, string>,
    createdTimeMs: numberOrNull(json.createdTime),
  }
}

function toProtocol(json: Record<string, unknown>): Protocol {
  return {
    minReaderVersion: numberOrNull(json.minReaderVersion) ?? 1,
    minWriterVersion: numberOrNull(json.minWriterVersion) ?? 1,
    ...(Array.isArray(json.readerFeatures) ? { readerFeatures: json.readerFeatures.map(String) } : {}),
    ...(Array.isArray(json.writerFeatures) ? { writerFeatures: json.writerFeatures.map(String) } : {}),
  }
}

function toTxn(json: Record<string, unknown>): Txn {
  return { appId: String(json.appId), version: numberOrNull(json.version) ?? 0, lastUpdatedMs: numberOrNull(json.lastUpdated) }
}

function toAdd(json: Record<string, unknown>, where: string): AddFile {
  return {
    path: decodePath(text(json.path, 'add.path', where)),
    size: numberOrNull(json.size) ?? 0,
    modifiedMs: numberOrNull(json.modificationTime) ?? 0,
    dataChange: json.dataChange !== false,
    partitionValues: stringMap(json.partitionValues),
    statistics: typeof json.stats === 'string' ? json.stats : null,
    deletionVector: isObject(json.deletionVector) ? toDeletionVector(json.deletionVector) : null,
  }
}

function toRemove(json: Record<string, unknown>, where: string): RemoveFile {
  return {
    path: decodePath(text(json.path, 'remove.path', where)),
    deletedMs: numberOrNull(json.deletionTimestamp),
    dataChange: json.dataChange !== false,
    deletionVector: isObject(json.deletionVector) ? toDeletionVector(json.deletionVector) : null,
    size: numberOrNull(json.size),
    partitionValues: stringMap(json.partitionValues),
    rowCount: rowCountOf(typeof json.stats === 'string' ? json.stats : null),
  }
}

function toDeletionVector(json: Record<string, unknown>): DeletionVector {
  const offset = numberOrNull(json.offset)
  return {
    storageType: String(json.storageType),
    pathOrInlineDv: String(json.pathOrInlineDv),
    ...(offset === null ? {} : { offset }),
    sizeInBytes: numberOrNull(json.sizeInBytes) ?? 0,
    cardinality: numberOrNull(json.cardinality) ?? 0,
  }
}

/**
 * A path as it stands in the log: URI-encoded as Java does it (RFC 2396; `java.net.URI`, "other" characters stand for themselves). Spark
 * compares it letter by letter: a remove that spells it otherwise than the add would leave the file live there.
 */
export function encodePath(path: string): string {
  return path.replace(/[\p{Cc}\p{Z}"#%<>?[\\\]^`{|}]/gu, encodeURIComponent)
}

/** A path as it stands in the log, decoded once: what a writer escaped for the folder's name stays escaped. */
export function decodePath(path: string): string {
  try {
    return decodeURIComponent(path)
  } catch {
    return path
  }
}

function stringMap(json: unknown): Record<string, string | null> {
  const map: Record<string, string | null> = Object.create(null)
  if (isObject(json)) for (const [key, value] of Object.entries(json)) map[key] = value === null ? null : String(value)
  return map
}

function text(value: unknown, name: string, where: string): string {
  if (typeof value === 'string') return value
  throw new StreamtopError('table-damaged', `${where} has no ${name}`, { hint: 'restore the file from a copy, or drop the table' })
}

function numberOrNull(value: unknown): number | null {
  return typeof value === 'number' ? value : null
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
