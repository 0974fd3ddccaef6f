/** Where scenarios lie: those that come with streamtop, found beside dist by their number or name, and files by their path. */
import { isUtf8 } from 'node:buffer'
import { basename, dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Effects } from '../effects.js'
import { nearestName } from '../engine/nearest-name.js'
import { StreamtopError } from '../errors.js'
import { MOST_BYTES, parseScenario } from './parse-scenario.js'
import type { Scenario } from './scenario.js'

export interface FoundScenario {
  /** `02-plain-append-duplicates`. */
  readonly name: string
  readonly scenario: Scenario
  /** Absolute path of its file of queries, null for none. */
  readonly configFile: string | null
}

const NAME = /^[0-9]{2}(-[a-z0-9-]{1,60})?$/
const FILE = /^[0-9]{2}-[a-z0-9-]{1,60}\.yaml$/

/** The folder of the scenarios that come with streamtop: beside `dist`, into which all files are built. */
export function scenariosFolder(): string {
  return fileURLToPath(new URL('../scenarios/', import.meta.url))
}

/** Every scenario of a folder, by number. @throws bad-config for one that is broken */
export function listScenarios(folder: string, fx: Effects): FoundScenario[] {
  const names = fx.files.list(folder).filter((name) => FILE.test(name))
  return names.sort().map((name) => read(join(folder, name), name, fx))
}

/**
 * One scenario, by number (`02`), by name, or by the path of a file. What looks like a path is one: it has a slash or ends in .yaml.
 * @param workingFolder what a path is relative to
 * @throws usage for a name that there is not, source-missing for a file, bad-config for one that is broken
 */
export function findScenario(wanted: string, folder: string, workingFolder: string, fx: Effects): FoundScenario {
  if (wanted.includes('/') || /\.ya?ml$/.test(wanted)) return read(resolve(workingFolder, wanted), wanted, fx)
  const names = fx.files
    .list(folder)
    .filter((name) => FILE.test(name))
    .map((name) => basename(name, '.yaml'))
    .sort()
  const found = NAME.test(wanted) ? names.find((name) => name === wanted || name.startsWith(`${wanted}-`)) : undefined
  if (found !== undefined) return read(join(folder, `${found}.yaml`), `${found}.yaml`, fx)
  const nearest = nearestName(wanted, names)
  throw new StreamtopError('usage', `there is no scenario ${wanted}`, {
    hint: `${nearest === null ? '' : `did you mean ${nearest}? `}"streamtop play" lists them; a file of your own is named by its path`,
  })
}

function read(path: string, shown: string, fx: Effects): FoundScenario {
  const status = fx.files.status(path)
  if (status === null || status.isFolder)
    throw new StreamtopError('source-missing', `there is no file ${shown}`, { hint: '"streamtop play" lists the scenarios that come with it' })
  if (status.size > MOST_BYTES) throw new StreamtopError('bad-config', `${shown}:1: expected a file of at most ${MOST_BYTES / 1024} KiB`)
  const scenario = parseScenario(utf8Text(fx.files.read(path), shown), shown)
  // The name has no slash and no "..": it cannot lead out of the folder.
  const configFile = scenario.config === null ? null : join(dirname(path), scenario.config)
  if (configFile !== null && !fx.files.exists(configFile))
    throw new StreamtopError('bad-config', `${shown}:${scenario.configLine}: config: expected a file beside it, found no ${scenario.config}`)
  return { name: basename(path).replace(/\.ya?ml$/, ''), scenario, configFile }
}

/** Another encoding would be played with signs that nobody wrote. */
function utf8Text(bytes: Buffer, shown: string): string {
  if (isUtf8(bytes)) return bytes.toString('utf8')
  // No byte of a sign of several is a line feed, so a line can be looked at alone.
  const line = bytes
    .toString('latin1')
    .split('\n')
    .findIndex((text) => !isUtf8(Buffer.from(text, 'latin1')))
  throw new StreamtopError('bad-config', `${shown}:${line + 1}: expected UTF-8, found other bytes`, { hint: 'save the file as UTF-8' })
}
