/**
 * Version files before they have a name: `tables/.uncommitted/<pid>-<start>-<uuid>.tmp`, linked from there into a `_delta_log`.
 * One small folder for all tables, with the writer's process in the name, so that whoever opens the store can remove what a
 * death left without looking through logs that grow, and without touching the file of a living writer.
 */
import { join } from 'node:path'
import type { Effects } from '../effects.js'

const FOLDER = '.uncommitted'
const NAME = /^(\d+-\w+)-[0-9a-f-]+\.tmp$/

/** A path for a version file that is not linked yet; its folder is there. */
export function uncommittedPath(tablesFolder: string, fx: Effects): string {
  return join(tablesFolder, FOLDER, `${ownProcess(fx)}-${fx.randomUuid()}.tmp`)
}

/** Makes the folder, and removes the files of processes that are gone. */
export function tidyUncommitted(tablesFolder: string, fx: Effects): void {
  const folder = join(tablesFolder, FOLDER)
  fx.files.makeFolder(folder)
  for (const name of fx.files.list(folder)) {
    const [, writer] = NAME.exec(name) ?? []
    if (writer === undefined || isRunning(writer, fx)) continue
    fx.files.remove(join(folder, name))
  }
}

/** This process, as no later one is called: its pid and when it started. */
export function ownProcess(fx: Effects): string {
  const name = names.get(fx) ?? `${process.pid}-${fx.processStart(process.pid) ?? 'unknown'}`
  names.set(fx, name)
  return name
}

/** Whether a process that called itself so is running. */
export function isRunning(name: string, fx: Effects): boolean {
  const [pid = '', started] = name.split('-')
  return fx.processStart(Number(pid)) === started
}

/** Looked up once: it does not change. */
const names = new WeakMap<Effects, string>()
