/**
 * `_delta_log` of a table: the names of version files, and which are there. Creating `<v+1>.json` by link, which fails when it
 * exists, is what decides who wrote version v+1, for streamtop and for Spark alike.
 */
import { dirname, join } from 'node:path'
import type { Created, Effects } from '../effects.js'
import { StreamtopError } from '../errors.js'
import { readTableFile } from './read-file.js'
import { uncommittedPath } from './uncommitted.js'

export const DELTA_LOG = '_delta_log'

/** The path of a version's file. */
export function versionPath(tableFolder: string, version: number): string {
  return join(tableFolder, DELTA_LOG, versionName(version))
}

/** The name of a version's file: twenty digits and `.json`. */
export function versionName(version: number): string {
  return `${String(version).padStart(20, '0')}.json`
}

/** A version's text, or null when the version is not there. */
export function readVersionText(tableFolder: string, version: number, fx: Effects): string | null {
  return readTableFile(versionPath(tableFolder, version), fx)?.toString('utf8') ?? null
}

/** Creates a version: synced, whole, and only if nobody else has. */
export function linkVersion(tableFolder: string, version: number, text: string, fx: Effects): Created {
  return fx.files.create(versionPath(tableFolder, version), text, uncommittedPath(dirname(tableFolder), fx))
}

/** Whether a folder is a Delta table. */
export function isTableFolder(tableFolder: string, fx: Effects): boolean {
  return fx.files.status(join(tableFolder, DELTA_LOG))?.isFolder ?? false
}

/**
 * That a table's folder is in the workspace and not a symbolic link to somewhere else: what is written and removed there would not be the
 * workspace's.
 * @throws unsupported-feature
 */
export function checkNoLink(tableFolder: string, fx: Effects): void {
  if (!fx.files.isLink(tableFolder)) return
  throw new StreamtopError('unsupported-feature', `${tableFolder} is a symbolic link: a table is read and written only where it lies`, {
    hint: 'put the table itself there, or start streamtop in the workspace that has it (--workspace)',
  })
}

/** The versions whose JSON is among the names of a `_delta_log`, ascending. Such a listing is for a table that the log does not know yet, never for a commit. */
export function jsonVersions(names: readonly string[]): number[] {
  return names
    .filter((name) => /^\d{20}\.json$/.test(name))
    .map((name) => Number(name.slice(0, 20)))
    .sort((left, right) => left - right)
}

/** The error for a gap between two versions that are there. */
export function missingVersion(tableFolder: string, before: number, after: number): StreamtopError {
  return new StreamtopError('table-damaged', `${versionPath(tableFolder, before + 1)} is missing although version ${after} is there`, {
    hint: 'restore the file from a copy; without it nobody can say what the table holds',
    condition: 'DELTA_VERSIONS_NOT_CONTIGUOUS',
  })
}

/** The error for a newest version of which only a table checkpoint is there. */
export function missingUnderCheckpoint(tableFolder: string, version: number): StreamtopError {
  return new StreamtopError('table-damaged', `${versionPath(tableFolder, version)} is missing although a table checkpoint of version ${version} is there`, {
    hint: 'restore the file from a copy; it, and what may have come behind it, is not all in the checkpoint',
    condition: 'DELTA_STATE_RECOVER_ERROR',
  })
}
