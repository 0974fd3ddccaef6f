/**
 * The names of data files: `part-00000-<uuid>.<pid>-<start>.snappy.parquet`. A file is there before a version names it, and only its
 * writer knows whether one will. So it says from its first byte on which process writes it: nobody who clears up can take the file of
 * a living writer for an orphan, whatever has become of `_log.db`, and it costs neither a write nor a sync.
 */
import type { Effects } from '../effects.js'
import { isRunning, ownProcess } from './uncommitted.js'

const WRITER = /\.(\d+-\w+)\.snappy\.parquet$/

/** @param index among the files of one write, from 0 */
export function newDataFileName(index: number, fx: Effects): string {
  return `part-${String(index).padStart(5, '0')}-${fx.randomUuid()}.${ownProcess(fx)}.snappy.parquet`
}

/** Those of some data files whose writer is running; of other engines' files none, for their names do not say. */
export function filesOfLivingWriters(paths: readonly string[], fx: Effects): string[] {
  const isLiving = new Map<string, boolean>()
  return paths.filter((path) => {
    const [, writer] = WRITER.exec(path) ?? []
    if (writer === undefined) return false
    const known = isLiving.get(writer) ?? isRunning(writer, fx)
    isLiving.set(writer, known)
    return known
  })
}
