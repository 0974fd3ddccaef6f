/** How many bytes the newest batch of a query left in each of its files. */
import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { BatchBytes } from './batch-floor.js'

/** @param walBytes what the batch added to the log of SQLite */
export function batchBytes(workspace: string, query: string, table: string, walBytes: number): BatchBytes {
  const checkpoint = join(workspace, 'checkpoints', query)
  const folder = join(workspace, 'tables', table)
  return {
    offsets: newestSize(join(checkpoint, 'offsets'), /^\d+$/),
    data: newestSize(folder, /\.parquet$/),
    version: newestSize(join(folder, '_delta_log'), /\.json$/),
    commit: newestSize(join(checkpoint, 'commits'), /^\d+$/),
    wal: walBytes,
  }
}

/** The length of the write-ahead log of a workspace's tables. */
export function walLength(workspace: string): number {
  return statSync(join(workspace, 'tables', '_log.db-wal'), { throwIfNoEntry: false })?.size ?? 0
}

function newestSize(folder: string, names: RegExp): number {
  let newest = { mtimeMs: -1, size: 0 }
  for (const name of readdirSync(folder)) {
    if (!names.test(name)) continue
    const { mtimeMs, size } = statSync(join(folder, name))
    if (mtimeMs >= newest.mtimeMs) newest = { mtimeMs, size }
  }
  return newest.size
}
