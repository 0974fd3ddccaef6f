/**
 * Version files before they have a name: `tables/.uncommitted/<pid>-<start>-<uuid>.tmp`, linked from there into a `_delta_log`.
 * One small folder for all tables, with the writer's process in the name, so that whoever opens the store can remove what a
 * death left without looking through logs that grow, and without touching the file of a living writer.
 */
import { join } from 'node:path'
import type { Effects } from '../effects.js'

const FOLDER = '.uncommitted'
const NAME = /^(\d+)-(\w+)-[0-9a-f-]+\.tmp$/

/** A path for a version file that is not linked yet; its folder is there. */
export function uncommittedPath(tablesFolder: string, fx: Effects): string {
  return join(tablesFolder, FOLDER, `${process.pid}-${ownStart(fx)}-${fx.randomUuid()}.tmp`)
}

/** Makes the folder, and removes the files of processes that are gone. */
export function tidyUncommitted(tablesFolder: string, fx: Effects): void {
  const folder = join(tablesFolder, FOLDER)
  fx.files.makeFolder(folder)
  for (const name of fx.files.list(folder)) {
    const [, pid, start] = NAME.exec(name) ?? []
    if (pid === undefined || fx.processStart(Number(pid)) === start) continue
    fx.files.remove(join(folder, name))
  }
}

let start: string | null = null

function ownStart(fx: Effects): string {
  start ??= fx.processStart(process.pid) ?? 'unknown'
  return start
}
