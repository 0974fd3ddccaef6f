/**
 * Table checkpoints: the whole state of a table at a version, from which a log whose first versions were cleaned up still begins (Delta
 * protocol, "Checkpoints"). Classic ones, those in several parts, and V2 with sidecars. `_last_checkpoint` is a hint for finding them
 * quickly; a listing finds them all, so it is not read and cannot mislead.
 */
import { basename, join } from 'node:path'
import type { Effects } from '../effects.js'
import { StreamtopError } from '../errors.js'
import type { Metadata, Protocol, VersionActions } from './actions.js'
import { DELTA_LOG, jsonVersions, missingUnderCheckpoint, missingVersion, readVersionText, versionPath } from './delta-log.js'
import { readCheckpointRows } from './parquet-checkpoint.js'
import { readTableFile } from './read-file.js'
import { applyVersion, fileKey, firstVersionIsIncomplete, lastOfEach } from './replay.js'
import type { Snapshot } from './table-log.js'
import { type ActionObject, actionsOf, decodePath, parseVersion } from './version-text.js'

/** The state of a table at a version. */
export interface TableBase {
  readonly version: number
  /** Live files as adds, and as removes those that were taken out not long before. */
  readonly state: VersionActions & { readonly metadata: Metadata; readonly protocol: Protocol }
}

/** Where what can be known of a table begins. */
export interface LogStart {
  /** The versions whose JSON is there, ascending and without a gap, to the newest. The first ones may lie before the base. */
  readonly versions: readonly number[]
  /** Null when the versions begin at 0, from where everything can be replayed. */
  readonly base: TableBase | null
}

/**
 * Finds where a table's log begins: version 0, else the oldest table checkpoint from which the JSON goes on to the newest version.
 * @returns null when the folder holds no version
 * @throws table-damaged when versions are missing and no checkpoint stands for them, or when the newest version is one of them
 */
export function findLogStart(tableFolder: string, fx: Effects): LogStart | null {
  const names = fx.files.list(join(tableFolder, DELTA_LOG))
  const all = jsonVersions(names)
  const newest = all.at(-1) ?? -1
  const checkpoints = checkpointsIn(names)
  const last = checkpoints.at(-1)?.[0] ?? -1
  // A checkpoint is made when its version is there: who went on from an earlier one would write that version anew.
  if (last > newest && !fx.files.exists(versionPath(tableFolder, last))) throw missingUnderCheckpoint(tableFolder, last)
  if (newest < 0) return null
  let first = all.length - 1
  while (first > 0 && all[first - 1] === (all[first] as number) - 1) first--
  const versions = all.slice(first)
  const oldest = versions[0] as number
  if (oldest === 0) return { versions, base: null }

  let failure: unknown = null
  for (const [version, files] of checkpoints) {
    if (version < oldest - 1 || version > newest) continue
    for (const parts of files) {
      try {
        return { versions, base: { version, state: readState(tableFolder, version, parts, fx) } }
      } catch (error) {
        failure ??= error
      }
    }
  }
  if (failure !== null) throw failure
  if (all[0] === 0) throw missingVersion(tableFolder, all[first - 1] as number, oldest)
  throw firstVersionIsIncomplete(basename(tableFolder), oldest)
}

/**
 * The table at the oldest version that can be rebuilt; null when the folder holds no version. Throws as `findLogStart`, and when
 * that version's schema or JSON cannot be read.
 */
export function baseSnapshot(tableFolder: string, fx: Effects): Snapshot | null {
  const start = findLogStart(tableFolder, fx)
  if (start === null) return null
  const name = basename(tableFolder)
  if (start.base !== null) return snapshotOfBase(name, start.base)
  const text = readVersionText(tableFolder, 0, fx) ?? ''
  return applyVersion(null, name, 0, parseVersion(text, versionPath(tableFolder, 0)))
}

/** The table as a checkpoint has it. */
export function snapshotOfBase(table: string, { version, state }: TableBase): Snapshot {
  return applyVersion(null, table, version, { ...state, removes: [] })
}

const CHECKPOINT_NAME = /^(\d{20})\.checkpoint\.(?:(\d{10})\.(\d{10})\.parquet|parquet|[\da-f-]{36}\.(?:json|parquet))$/
const ACTIONS = ['txn', 'add', 'remove', 'metaData', 'protocol', 'sidecar']

/** Each version that has complete checkpoints, ascending, with the names of the files of each; the ones in a single file first. */
function checkpointsIn(names: readonly string[]): [version: number, checkpoints: string[][]][] {
  const byVersion = new Map<number, { single: string[][]; parts: Map<string, string[]> }>()
  for (const name of [...names].sort()) {
    const [, digits, part, partCount] = CHECKPOINT_NAME.exec(name) ?? []
    if (digits === undefined) continue
    const version = Number(digits)
    const found = byVersion.get(version) ?? { single: [], parts: new Map<string, string[]>() }
    byVersion.set(version, found)
    if (part === undefined || partCount === undefined) found.single.push([name])
    else found.parts.set(partCount, [...(found.parts.get(partCount) ?? []), name])
  }
  return [...byVersion]
    .map(([version, { single, parts }]): [number, string[][]] => {
      const complete = [...parts].filter(([count, files]) => files.length === Number(count)).map(([, files]) => files)
      return [version, [...single, ...complete]]
    })
    .filter(([, checkpoints]) => checkpoints.length > 0)
    .sort(([a], [b]) => a - b)
}

function readState(tableFolder: string, version: number, names: readonly string[], fx: Effects): TableBase['state'] {
  const where = join(tableFolder, DELTA_LOG, names[0] ?? '')
  const objects = names.flatMap((name) => readObjects(join(tableFolder, DELTA_LOG, name), fx))
  const sidecars = objects.flatMap(({ sidecar }) => (typeof sidecar === 'object' && sidecar !== null && 'path' in sidecar ? [String(sidecar.path)] : []))
  for (const path of sidecars) objects.push(...readObjects(sidecarPath(tableFolder, path), fx))
  const actions = actionsOf(objects.map(withStatistics), where)
  const { metadata, protocol } = actions
  if (metadata === null || protocol === null) {
    throw new StreamtopError('table-damaged', `table checkpoint ${where} has no metadata and protocol, so version ${version} cannot be rebuilt from it`, {
      hint: 'restore the file from a copy',
      condition: 'DELTA_STATE_RECOVER_ERROR',
    })
  }
  // A checkpoint has no order of its own; this is nearly the one in which the files came.
  const adds = lastOfEach(actions.adds).sort((a, b) => a.modifiedMs - b.modifiedMs || (a.path < b.path ? -1 : a.path > b.path ? 1 : 0))
  const live = new Set(adds.map(fileKey))
  return { ...actions, metadata, protocol, adds, removes: actions.removes.filter((remove) => !live.has(fileKey(remove))) }
}

/** Sidecars lie beside each other, by their names. */
function sidecarPath(tableFolder: string, path: string): string {
  const name = decodePath(path)
  const found = join(tableFolder, DELTA_LOG, '_sidecars', name)
  if (basename(found) === name) return found
  throw new StreamtopError('unsupported-feature', `a table checkpoint of ${tableFolder} names the file ${name}, which is not in its _sidecars`, {
    hint: 'read the table with Spark',
  })
}

function readObjects(path: string, fx: Effects): ActionObject[] {
  const bytes = readTableFile(path, fx)
  if (bytes === null) throw unreadable(path, 'it is not there')
  try {
    if (!path.endsWith('.json')) return readCheckpointRows(bytes, ACTIONS)
    return bytes
      .toString('utf8')
      .split('\n')
      .filter((line) => line.trim() !== '')
      .map((line) => JSON.parse(line) as ActionObject)
  } catch (cause) {
    throw unreadable(path, cause instanceof Error ? cause.message : String(cause), cause)
  }
}

function unreadable(path: string, what: string, cause?: unknown): StreamtopError {
  return new StreamtopError('table-damaged', `table checkpoint ${path} cannot be read: ${what}`, {
    hint: 'restore the file from a copy; the versions before it were cleaned up, so nothing else says what the table holds',
    condition: 'DELTA_STATE_RECOVER_ERROR',
    cause,
  })
}

/** A writer may keep statistics as columns only (`delta.checkpoint.writeStatsAsJson` off); of those the count of rows is taken. */
function withStatistics(object: ActionObject): ActionObject {
  const add = object['add'] as { readonly stats?: unknown; readonly stats_parsed?: { readonly numRecords?: unknown } } | undefined
  const rowCount = add?.stats_parsed?.numRecords
  return add === undefined || add.stats !== undefined || typeof rowCount !== 'number'
    ? object
    : { ...object, add: { ...add, stats: `{"numRecords":${rowCount}}` } }
}
