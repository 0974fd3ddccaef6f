/**
 * What is remembered of a table's log from look to look, so that a look costs what is new. A version that is there does not change;
 * that it is still the same table with the same history is checked at each look by the text of the newest version that is known.
 * Everything in it can be forgotten at any time.
 */
import type { AddFile, VersionActions } from '../store/actions.js'
import { applyVersion } from '../store/replay.js'
import type { Snapshot } from '../store/table-log.js'

/** A version whose file is there and that the SQLite log does not have. */
export interface OverlaidVersion {
  readonly version: number
  readonly text: string
  readonly actions: VersionActions
}

/** Whether a version only put rows into other files, as an OPTIMIZE does. */
export function isRewrite({ adds, removes }: VersionActions): boolean {
  return removes.length > 0 && [...adds, ...removes].every(({ dataChange }) => !dataChange)
}

/** Where it is looked up anew; each is called only for what is not remembered. */
export interface TableReader {
  changes(version: number): VersionActions
  snapshot(version: number): Snapshot
  /** Every path that a version has named. */
  paths(): Iterable<string>
  hasOneSchema(): boolean
  removedFiles(version: number): AddFile[]
  /** Versions up to the newest that wrote rows again and changed none (`isRewrite`), ascending. */
  rewrites(): number[]
}

/** So many new versions are gone through one by one; behind more of them everything is looked up anew. */
const FEW_VERSIONS = 64
const SNAPSHOTS_MAX = 8
const CHANGES_MAX = 2 * FEW_VERSIONS

interface UpTo<T> {
  readonly version: number
  readonly value: T
}

export class TableMemory {
  readonly #identity: string
  #newest: UpTo<string>
  readonly #snapshots = new Map<number, Snapshot>()
  readonly #changes = new Map<number, VersionActions>()
  #paths: UpTo<Set<string>> | null = null
  #hasOneSchema: UpTo<boolean> | null = null
  #removed: UpTo<readonly AddFile[]> | null = null
  #rewrites: UpTo<readonly number[]> | null = null

  /** @param identity the same as long as it is the same table in the same log */
  constructor(identity: string, newest: UpTo<string>) {
    this.#identity = identity
    this.#newest = newest
  }

  /** Whether what is remembered still holds, given the texts that are there now. */
  isOf(identity: string, textOf: (version: number) => string | null): boolean {
    return identity === this.#identity && textOf(this.#newest.version) === this.#newest.value
  }

  /** Takes note of the newest version, after `isOf`. */
  goOnTo(newest: UpTo<string>): void {
    this.#newest = newest
  }

  changes(version: number, reader: TableReader): VersionActions {
    return kept(this.#changes, version, CHANGES_MAX, () => reader.changes(version))
  }

  snapshot(version: number, reader: TableReader): Snapshot {
    return kept(this.#snapshots, version, SNAPSHOTS_MAX, () => this.#nextSnapshot(version, reader) ?? reader.snapshot(version))
  }

  paths(reader: TableReader): ReadonlySet<string> {
    const news = this.#news(this.#paths, reader)
    if (this.#paths === null || news === null) this.#paths = { version: this.#newest.version, value: new Set(reader.paths()) }
    else {
      const { value } = this.#paths
      for (const { adds, removes } of news) for (const { path } of [...adds, ...removes]) value.add(path)
      this.#paths = { version: this.#newest.version, value }
    }
    return this.#paths.value
  }

  hasOneSchema(reader: TableReader): boolean {
    const news = this.#news(this.#hasOneSchema, reader)
    const isNew = this.#hasOneSchema === null || news === null || news.some(({ metadata }) => metadata !== null)
    this.#hasOneSchema = { version: this.#newest.version, value: isNew || this.#hasOneSchema === null ? reader.hasOneSchema() : this.#hasOneSchema.value }
    return this.#hasOneSchema.value
  }

  /** Of the newest version. */
  removedFiles(reader: TableReader): readonly AddFile[] {
    const news = this.#news(this.#removed, reader)
    const isNew = this.#removed === null || news === null || news.some(({ removes }) => removes.some(({ dataChange }) => dataChange))
    this.#removed = {
      version: this.#newest.version,
      value: isNew || this.#removed === null ? reader.removedFiles(this.#newest.version) : this.#removed.value,
    }
    return this.#removed.value
  }

  /** Versions that wrote rows again and changed none, ascending. */
  rewrites(reader: TableReader): readonly number[] {
    const before = this.#rewrites
    const news = this.#news(before, reader)
    const { version } = this.#newest
    if (before === null || news === null) this.#rewrites = { version, value: reader.rewrites() }
    else {
      const added = news.flatMap((actions, at) => (isRewrite(actions) ? [before.version + 1 + at] : []))
      this.#rewrites = { version, value: added.length === 0 ? before.value : [...before.value, ...added] }
    }
    return this.#rewrites.value
  }

  /** What came since; null when that is too much to go through. */
  #news(before: UpTo<unknown> | null, reader: TableReader): VersionActions[] | null {
    if (before === null || this.#newest.version < before.version || this.#newest.version - before.version > FEW_VERSIONS) return null
    const news: VersionActions[] = []
    for (let version = before.version + 1; version <= this.#newest.version; version++) news.push(this.changes(version, reader))
    return news
  }

  /** From the nearest earlier snapshot; null when there is none near. */
  #nextSnapshot(version: number, reader: TableReader): Snapshot | null {
    const before = Math.max(...[...this.#snapshots.keys()].filter((known) => known < version))
    let snapshot = version - before > FEW_VERSIONS ? undefined : this.#snapshots.get(before)
    if (snapshot === undefined) return null
    for (let next = before + 1; next <= version; next++) snapshot = applyVersion(snapshot, snapshot.table, next, this.changes(next, reader))
    return snapshot
  }
}

/** The tables of one workspace. */
export class LogMemory {
  readonly #tables = new Map<string, TableMemory>()
  readonly #overlays = new Map<string, readonly OverlaidVersion[]>()

  /** Versions from one on that were read from a table's folder, when the newest of them is still what it was. */
  overlay(name: string, first: number, textOf: (version: number) => string | null): readonly OverlaidVersion[] {
    const known = this.#overlays.get(name) ?? []
    const newest = known.at(-1)
    return newest !== undefined && known[0]?.version === first && textOf(newest.version) === newest.text ? known : []
  }

  keepOverlay(name: string, overlay: readonly OverlaidVersion[]): void {
    this.#overlays.set(name, overlay)
  }

  /** What is remembered of a table, or a new memory where that does not hold any more. */
  table(name: string, identity: string, newest: number, textOf: (version: number) => string | null): TableMemory {
    const now = { version: newest, value: textOf(newest) ?? '' }
    const known = this.#tables.get(name)
    if (known?.isOf(identity, textOf)) {
      known.goOnTo(now)
      return known
    }
    const memory = new TableMemory(identity, now)
    this.#tables.set(name, memory)
    return memory
  }

  forgetOthers(names: readonly string[]): void {
    for (const all of [this.#tables, this.#overlays]) for (const name of all.keys()) if (!names.includes(name)) all.delete(name)
  }
}

/** The value of a key, made when it is not there; beyond so many the one that was asked for longest ago goes. */
function kept<T>(all: Map<number, T>, key: number, most: number, make: () => T): T {
  const value = all.get(key) ?? make()
  all.delete(key)
  all.set(key, value)
  const [oldest] = all.keys()
  if (all.size > most && oldest !== undefined) all.delete(oldest)
  return value
}
