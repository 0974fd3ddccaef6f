/**
 * A query's checkpoint folder, `<workspace>/checkpoints/<query>`, in Spark's layout: `metadata`, `offsets/N`, `commits/N`.
 * Files are created whole and never overwritten, so a file that is there already means that somebody else uses the folder.
 * Listing a log costs as much as it has files, so that is done at a start only; afterwards the loop knows its numbers.
 */
import { basename, dirname, join } from 'node:path'
import type { Effects } from '../effects.js'
import { isMachineError, knownError, StreamtopError } from '../errors.js'
import { type CommitsFile, formatCommit, parseCommit } from './commits-file.js'
import { damagedFile, jsonObject } from './damaged-file.js'
import { formatOffsets, type OffsetsFile, parseOffsets } from './offsets-file.js'

/** Where a query's checkpoint lies. */
export function checkpointFolder(workspace: string, query: string): string {
  return join(workspace, 'checkpoints', query)
}

/** Makes the folder with its two empty logs, synced; nothing happens when they are there. */
export function makeCheckpointFolder(folder: string, fx: Effects): void {
  fx.files.makeFolder(join(folder, 'offsets'))
  fx.files.makeFolder(join(folder, 'commits'))
}

/**
 * The id of the query, or null when there is no `metadata`.
 * @throws checkpoint-damaged when it is there and holds no id
 */
export function readQueryId(folder: string, fx: Effects): string | null {
  const path = join(folder, 'metadata')
  const text = readFile(path, fx)
  if (text === null) return null
  const safe = 'the id is also the app id of what a native sink wrote (the "txn" of its table), and can be written back as {"id":"<that>"}'
  const line = text.trim()
  if (line === '') throw damagedFile(path, 'is blank: the id of the query is lost, and with a new id batches would be written twice', { safe })
  const id = jsonObject(line, path, 'content')['id']
  if (typeof id === 'string' && UUID.test(id)) return id
  throw damagedFile(path, 'holds no id of a query', { safe })
}

/**
 * Writes `metadata` with a new id and gives the id back.
 * @throws concurrent-query when another process was faster
 */
export function createQueryId(folder: string, fx: Effects): string {
  const id = fx.randomUuid()
  const path = join(folder, 'metadata')
  fx.files.makeFolder(folder)
  if (fx.files.create(path, JSON.stringify({ id })) === 'created') return id
  throw alreadyThere(path)
}

/** The batch numbers in both logs, each in ascending order. Other names in the folders are passed over. */
export function listBatches(folder: string, fx: Effects): { readonly offsets: readonly number[]; readonly commits: readonly number[] } {
  return { offsets: batchIds(join(folder, 'offsets'), fx), commits: batchIds(join(folder, 'commits'), fx) }
}

/**
 * What `offsets/N` says.
 * @throws checkpoint-damaged when it is missing or cannot be read
 */
export function readOffsets(folder: string, batchId: number, fx: Effects): OffsetsFile {
  const path = offsetsPath(folder, batchId)
  const text = readFile(path, fx)
  if (text === null) throw damagedFile(path, `is missing: where batch ${batchId} ends is not known`)
  return parseOffsets(text, path)
}

/**
 * Fixes the range of a batch: durable when this returns.
 * @throws concurrent-query when `offsets/N` is there already
 */
export function createOffsets(folder: string, batchId: number, offsets: Omit<OffsetsFile, 'version'>, fx: Effects): void {
  const path = offsetsPath(folder, batchId)
  if (fx.files.create(path, formatOffsets(offsets)) === 'exists') throw alreadyThere(path)
}

/**
 * What `commits/N` says.
 * @throws checkpoint-damaged when it is missing or cannot be read
 */
export function readCommit(folder: string, batchId: number, fx: Effects): CommitsFile {
  const path = commitPath(folder, batchId)
  const text = readFile(path, fx)
  if (text === null) throw damagedFile(path, `is missing: whether batch ${batchId} is done is not known`)
  return parseCommit(text, path)
}

/**
 * Says that a batch is done: durable when this returns. A stateless query's watermark stays what it was.
 * @throws concurrent-query when `commits/N` is there already
 */
export function createCommit(folder: string, batchId: number, nextWatermarkMs: number, fx: Effects): void {
  const path = commitPath(folder, batchId)
  if (fx.files.create(path, formatCommit(nextWatermarkMs)) === 'exists') throw alreadyThere(path)
}

/** Takes a batch's commit away with its checksum, so that the batch runs again: durable when this returns. */
export function removeCommit(folder: string, batchId: number, fx: Effects): void {
  fx.files.remove(join(folder, 'commits', `.${batchId}.crc`))
  fx.files.remove(commitPath(folder, batchId))
  fx.files.syncFolder(join(folder, 'commits'))
}

/**
 * Makes durable what a start finds: its writer may have died before it was synced, or be another tool, which syncs nothing; what is
 * written from now on must not outlast what it is built on. Each file that the start reads, then the folders.
 */
export function syncCheckpoint(folder: string, { offsets, commits }: ReturnType<typeof listBatches>, fx: Effects): void {
  const sources = join(folder, 'sources', '0')
  const logged = [...offsets.slice(-2).map((batchId) => offsetsPath(folder, batchId)), ...commits.slice(-1).map((batchId) => commitPath(folder, batchId))]
  const initial = fx.files.list(sources).map((name) => join(sources, name))
  for (const path of [join(folder, 'metadata'), ...initial, ...logged]) if (fx.files.exists(path)) fx.files.syncFile(path)
  for (const part of [sources, join(folder, 'offsets'), join(folder, 'commits'), folder]) if (fx.files.exists(part)) fx.files.syncFolder(part)
}

/** Removes what a writer that died left half written. Only under the query's lock: a living writer's file would go too. */
export function removeStaleTemporaries(folder: string, fx: Effects): void {
  for (const part of [folder, join(folder, 'offsets'), join(folder, 'commits'), join(folder, 'sources', '0')]) {
    for (const name of fx.files.list(part)) {
      if (STALE_TEMPORARY.test(name)) fx.files.remove(join(part, name))
    }
  }
  removeResetRemains(folder, fx)
}

/** A checkpoint that is being removed has this name, so that a death in between leaves a whole one or none. */
export function resetPath(folder: string, fx: Effects): string {
  return join(dirname(folder), `.reset-${basename(folder)}-${fx.randomUuid()}`)
}

/** Removes what a reset that died has left of a query's checkpoint. */
export function removeResetRemains(folder: string, fx: Effects): void {
  const remains = `.reset-${basename(folder)}-`
  const checkpoints = dirname(folder)
  for (const name of fx.files.list(checkpoints)) {
    if (name.startsWith(remains) && name.length === remains.length + 36) fx.files.removeFolder(join(checkpoints, name))
  }
}

export function offsetsPath(folder: string, batchId: number): string {
  return join(folder, 'offsets', String(batchId))
}

export function commitPath(folder: string, batchId: number): string {
  return join(folder, 'commits', String(batchId))
}

/** The text of a file of a checkpoint, null when it is not there; a folder or an unreadable file in its place is damage. */
export function readFile(path: string, fx: Effects): string | null {
  try {
    return fx.files.readIfPresent(path)?.toString('utf8') ?? null
  } catch (cause) {
    throw unreadable(path, 'read', cause)
  }
}

/** The error for a file that somebody else created first. */
export function alreadyThere(path: string): StreamtopError {
  return new StreamtopError('concurrent-query', `${path} was created by somebody else: another query uses this checkpoint`, {
    hint: 'stop the other query (Spark does not know the lock of streamtop), then run this one again; nothing was overwritten',
    condition: 'CONCURRENT_STREAM_LOG_UPDATE',
  })
}

const UUID = /^[0-9a-fA-F]{1,8}(-[0-9a-fA-F]{1,4}){3}-[0-9a-fA-F]{1,12}$/
/** Ours and Hadoop's: `.7.<uuid>.tmp`, and the checksum of the latter. */
const STALE_TEMPORARY = /^\..*\.tmp(\.crc)?$/
const BATCH_ID = /^(0|[1-9][0-9]{0,15})$/

function batchIds(log: string, fx: Effects): number[] {
  const ids: number[] = []
  for (const name of listFolder(log, fx)) if (BATCH_ID.test(name) && Number.isSafeInteger(Number(name))) ids.push(Number(name))
  return ids.sort((a, b) => a - b)
}

function listFolder(path: string, fx: Effects): string[] {
  try {
    return fx.files.list(path)
  } catch (cause) {
    throw unreadable(path, 'listed', cause)
  }
}

/** What the machine does not let us read is not damaged, and a reset would be the wrong cure. */
function unreadable(path: string, how: 'read' | 'listed', cause: unknown): StreamtopError {
  const known = isMachineError(cause) ? knownError(cause) : null
  return known ?? damagedFile(path, `cannot be ${how} (${(cause as NodeJS.ErrnoException).code ?? String(cause)})`, { cause })
}
