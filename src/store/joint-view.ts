/**
 * Joint commits for a reader who may not write: which versions that the log lacks are to be shown, and which prepared writes belong
 * behind those that are on disk. What is decided of a joint commit holds for all its tables and for as long as the
 * reader looks, so that none of it is half there whatever happens meanwhile.
 */
import type { Effects } from '../effects.js'
import type { VersionActions } from './actions.js'
import type { PreparedWrite } from './joint-log.js'
import { findLinked, textAs } from './joint-recovery.js'
import { jointOf } from './joint-version.js'
import type { SqliteLog } from './sqlite-log.js'
import { parseVersion } from './version-text.js'

export interface LaidVersion {
  readonly version: number
  readonly text: string
  readonly actions: VersionActions
}

export class JointView {
  readonly #log: SqliteLog | null
  readonly #reopen: () => SqliteLog | null
  /** By joint commit: whether it is shown. */
  readonly #isShown = new Map<string, boolean>()
  /** Of those that are shown and that the log has as prepared. */
  readonly #writes: PreparedWrite[] = []

  /**
   * Looks at the disk once, so make it right after the log was opened.
   * @param log the reader's, which stands at one moment; null when there is none
   * @param reopen opens the log as it is by then; closed here
   */
  constructor(log: SqliteLog | null, tablesFolder: string, reopen: () => SqliteLog | null, fx: Effects) {
    this.#log = log
    this.#reopen = reopen
    for (const { jointId } of log?.joint.unsettled() ?? []) {
      const writes = log?.joint.writes(jointId) ?? []
      const isLinked = writes.some((write) => findLinked(tablesFolder, write, fx) !== null)
      this.#isShown.set(jointId, isLinked)
      if (isLinked) this.#writes.push(...writes)
    }
  }

  /**
   * The versions of a table behind those that the log has, as this reader is to see them: what is on disk up to the first version of
   * a joint commit that is newer than the log, and behind it what whoever recovers would link.
   * @param table with the key that the log knows it by, null when it does not
   * @param newest the version that the log has, -1 for none
   * @param onDisk ascending, without a gap behind it
   */
  overlay(table: { readonly name: string; readonly tableKey: number | null }, newest: number, onDisk: readonly LaidVersion[]): LaidVersion[] {
    const end = onDisk.findIndex(({ actions }) => !this.#shows(actions))
    const laid = end < 0 ? [...onDisk] : onDisk.slice(0, end)
    const texts = new Set(laid.map(({ text }) => text))
    for (const write of this.#writes) {
      const version = (laid.at(-1)?.version ?? newest) + 1
      const text = textAs(write, version)
      if (!isOf(write, table) || texts.has(text) || texts.has(write.text)) continue
      laid.push({ version, text, actions: parseVersion(text, `what was prepared for table ${write.table}`) })
    }
    return laid
  }

  /** Whether a table that the log does not know is made by a joint commit that is linked in part. */
  makes(name: string): boolean {
    return this.#writes.some((write) => isOf(write, { name, tableKey: null }))
  }

  #shows(actions: VersionActions): boolean {
    const joint = jointOf(actions)
    if (joint === null) return true
    let isShown = this.#isShown.get(joint.id)
    if (isShown === undefined) {
      isShown = !this.#isNewer(joint.id)
      this.#isShown.set(joint.id, isShown)
    }
    return isShown
  }

  /**
   * A joint commit that the reader's log does not know is newer than that; or its log was deleted, and nobody will know it. One that it
   * knows by another table is no newer: a lost log is being built again, table by table.
   */
  #isNewer(jointId: string): boolean {
    if (this.#log === null || this.#log.joint.knows(jointId)) return false
    const now = this.#reopen()
    try {
      return now?.joint.knows(jointId) ?? false
    } finally {
      now?.close()
    }
  }
}

/** A write that makes its table is also one of the table that another writer has made meanwhile. */
function isOf(write: PreparedWrite, table: { readonly name: string; readonly tableKey: number | null }): boolean {
  return write.table === table.name && (write.tableKey === null || write.tableKey === table.tableKey)
}
