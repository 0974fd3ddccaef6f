/**
 * What a table source keeps in a checkpoint: nothing, as Delta's, unless the query began with `startingVersion`. Then
 * `sources/0/streamtop.json` says so, because batch 0 logs only where it ends: run again with another option it would have
 * another range.
 */
import { join } from 'node:path'
import type { Effects } from '../effects.js'
import { alreadyThere, readFile } from './checkpoint.js'
import { damagedFile, jsonObject } from './damaged-file.js'
import type { TableSourceOptions } from './source-options.js'

type StartingVersion = TableSourceOptions['startingVersion']

/**
 * The `startingVersion` that holds for a checkpoint's batch 0: what was recorded, and for a query without a batch what is asked for now,
 * which is then recorded.
 * @throws checkpoint-damaged
 */
export function settleStartingVersion(folder: string, isNew: boolean, asked: StartingVersion, fx: Effects): StartingVersion {
  const path = join(folder, 'sources', '0', 'streamtop.json')
  if (!isNew) return readRecorded(path, fx)
  // Left by a start that died before batch 0 was logged: nothing was promised yet.
  fx.files.remove(path)
  if (asked === null) return null
  fx.files.makeFolder(join(folder, 'sources', '0'))
  if (fx.files.create(path, JSON.stringify({ kind: 'table', startingVersion: asked })) === 'exists') throw alreadyThere(path)
  return asked
}

function readRecorded(path: string, fx: Effects): StartingVersion {
  const text = readFile(path, fx)
  if (text === null) return null
  const { startingVersion } = jsonObject(text, path, 'content')
  if (startingVersion === 'latest' || (typeof startingVersion === 'number' && Number.isSafeInteger(startingVersion))) return startingVersion
  throw damagedFile(path, 'does not say where the query began')
}
