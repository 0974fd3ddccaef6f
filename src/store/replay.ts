/**
 * A snapshot from the actions of its versions (Delta protocol, "Action Reconciliation"): the newest add or remove of a file
 * wins, the newest txn of an app id wins, the newest metadata and protocol win. Pure; readers that may not write use it.
 */
import { StreamtopError } from '../errors.js'
import type { AddFile, Metadata, Protocol, Txn, VersionActions } from './actions.js'
import type { Snapshot } from './table-log.js'
import { tableSchema } from './table-schema.js'
import { deletionVectorId } from './version-text.js'

/**
 * The snapshot after one more version.
 * @param before the snapshot at version - 1; null for the first version that can be read
 * @throws table-damaged when the first version has no metadata or protocol
 */
export function applyVersion(before: Snapshot | null, table: string, version: number, actions: VersionActions): Snapshot {
  const metadata = actions.metadata ?? before?.metadata
  const protocol = actions.protocol ?? before?.protocol
  if (!metadata || !protocol) throw firstVersionIsIncomplete(table, version)
  return {
    table,
    tableId: metadata.id,
    version,
    protocol,
    metadata,
    schema: before?.metadata === metadata ? before.schema : tableSchema(metadata),
    files: liveFiles(before?.files ?? [], actions),
    txns: newestTxns(before?.txns ?? new Map(), actions.txns),
  }
}

export function firstVersionIsIncomplete(table: string, version: number): StreamtopError {
  return new StreamtopError('table-damaged', `version ${version} of table ${table} has no ${'metaData'} and protocol, and no earlier version is there`, {
    hint: 'restore the missing version files from a copy',
    condition: 'DELTA_STATE_RECOVER_ERROR',
  })
}

/** Whether what a version says changes the table's shape: a writer that was planning must not go on over it. */
export function changesShape(actions: { readonly metadata: Metadata | null; readonly protocol: Protocol | null }): boolean {
  return actions.metadata !== null || actions.protocol !== null
}

function liveFiles(before: readonly AddFile[], actions: VersionActions): AddFile[] {
  const gone = new Set<string>()
  for (const remove of actions.removes) gone.add(fileKey(remove))
  for (const add of actions.adds) gone.add(fileKey(add))
  return [...(gone.size === 0 ? before : before.filter((file) => !gone.has(fileKey(file)))), ...lastOfEach(actions.adds)]
}

/** No version should name a file twice; of one that does the last counts, as for Spark. */
export function lastOfEach<T extends Pick<AddFile, 'path' | 'deletionVector'>>(files: readonly T[]): T[] {
  const last = new Map<string, T>()
  for (const file of files) {
    last.delete(fileKey(file))
    last.set(fileKey(file), file)
  }
  return [...last.values()]
}

function newestTxns(before: ReadonlyMap<string, Txn>, txns: readonly Txn[]): ReadonlyMap<string, Txn> {
  if (txns.length === 0) return before
  const newest = new Map(before)
  for (const txn of txns) newest.set(txn.appId, txn)
  return newest
}

/** What identifies a file in the log: its path and the deletion vector over it. */
export function fileKey(file: Pick<AddFile, 'path' | 'deletionVector'>): string {
  return `${file.path}\n${deletionVectorId(file.deletionVector)}`
}
