/**
 * A table's `_delta_log` read by the plainest rules of the protocol: JSON versions in order, adds and removes. Part of the
 * checker, so it shares nothing with src.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/**
 * @param {string} folder of the table
 * @returns {{versions: {version: number, text: string, actions: object[]}[], live: Map<string, object>, problems: string[]}}
 *   `live` has the add of each live file by its path, with the version that added it
 */
export function replayTable(folder) {
  const log = join(folder, '_delta_log')
  const names = existsSync(log) ? readdirSync(log).filter((name) => /^\d{20}\.json$/.test(name)) : []
  const problems = []
  const live = new Map()
  const versions = names.sort().map((name) => {
    const text = readFileSync(join(log, name), 'utf8')
    return {
      version: Number(name.slice(0, 20)),
      text,
      actions: text
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line)),
    }
  })
  for (const [index, { version, actions }] of versions.entries()) {
    if (version !== versions[0].version + index) problems.push(`${folder} has version ${version} after ${versions[index - 1].version}`)
    for (const { add, remove } of actions) {
      if (remove && !live.delete(decodeURIComponent(remove.path))) problems.push(`version ${version} of ${folder} removes ${remove.path}, which is not live`)
      if (add) live.set(decodeURIComponent(add.path), { ...add, path: decodeURIComponent(add.path), version })
    }
  }
  return { versions, live, problems }
}

/**
 * The files of a table in the order in which a stream that began with the snapshot of a version takes them.
 * @returns {{path: string, version: number, index: number, isInitial: boolean}[]}
 */
export function filesInStreamOrder(versions, snapshotVersion) {
  const snapshot = new Map()
  const later = []
  for (const { version, actions } of versions) {
    let index = 0
    for (const { add, remove } of actions) {
      if (version <= snapshotVersion) {
        if (remove) snapshot.delete(remove.path)
        if (add) snapshot.set(add.path, add)
      } else if (add?.dataChange) later.push({ path: decodeURIComponent(add.path), version, index: index++, isInitial: false })
    }
  }
  const sorted = [...snapshot.values()].sort((a, b) => a.modificationTime - b.modificationTime || (a.path < b.path ? -1 : 1))
  return [...sorted.map(({ path }, index) => ({ path: decodeURIComponent(path), version: snapshotVersion, index, isInitial: true })), ...later]
}

/** How many files of a stream lie at or before an offset of Delta's source. */
export function filesTaken(stream, { reservoirVersion, index, isStartingVersion }) {
  const isTaken = (file) =>
    file.isInitial
      ? !isStartingVersion || file.index <= index
      : !isStartingVersion && (file.version < reservoirVersion || (file.version === reservoirVersion && file.index <= index))
  return stream.filter(isTaken).length
}
