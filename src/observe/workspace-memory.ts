/** What is remembered of a workspace from look to look. All of it can be forgotten at any time; nothing of it is an answer by itself. */
import { join } from 'node:path'
import type { Effects } from '../effects.js'
import { checkpointFolder, commitPath, offsetsPath } from '../engine/checkpoint.js'
import type { QueryDefinition, SourceSpec } from '../engine/definition.js'
import { type LockHolder, readLockHolder } from '../engine/lock.js'
import { versionPath } from '../store/delta-log.js'
import { logPathOf, tablesFolderOf } from '../store/workspace-paths.js'
import { topicsPath } from '../topic/topic-database.js'
import { type CheckpointFacts, checkpointFacts } from './checkpoint-facts.js'
import { DiskMarks, MarkedValue } from './disk-marks.js'
import { QueryMemory } from './query-facts.js'
import { LogMemory } from './table-memory.js'
import { FolderListing, type TableFacts } from './table-status.js'

/** Of one query. */
export class FollowedQuery extends QueryMemory {
  readonly #checkpoint = new MarkedValue<CheckpointFacts>()
  #newest: CheckpointFacts | null = null
  #holder: { readonly mark: string; readonly holder: LockHolder | null } | null = null

  checkpoint(workspace: string, name: string, source: SourceSpec | null, fx: Effects): CheckpointFacts {
    const mark = this.marks(workspace, name, new DiskMarks(fx)).text()
    this.#newest = this.#checkpoint.get(mark, () => checkpointFacts(workspace, name, source, fx))
    return this.#newest
  }

  /** Folders tell what comes and goes; the newest files could also be changed in place. */
  marks(workspace: string, name: string, marks: DiskMarks): DiskMarks {
    const folder = checkpointFolder(workspace, name)
    marks.add(folder, ...['metadata', 'offsets', 'commits', 'sources/0', 'sources/0/0', 'state'].map((part) => join(folder, part)))
    const { offsets = [], commits = [] } = this.#newest?.summary ?? {}
    for (const batchId of offsets.slice(-2)) marks.add(offsetsPath(folder, batchId))
    for (const batchId of commits.slice(-1)) marks.add(commitPath(folder, batchId))
    return marks
  }

  /** Who holds the query. The file says who took the lock last; whether that one lives is asked at every look. */
  holder(workspace: string, name: string, fx: Effects): LockHolder | null {
    const mark = new DiskMarks(fx).add(join(workspace, '.locks', `${name}.db`)).text()
    if (mark !== null && this.#holder?.mark === mark) {
      const { holder } = this.#holder
      if (holder === null || (holder.pid !== process.pid && fx.processStart(holder.pid) === holder.processStart)) return holder
    }
    const holder = readLockHolder(workspace, name, fx)
    // A lock of this process can be let go without a trace in the file.
    this.#holder = mark === null || holder?.pid === process.pid ? null : { mark, holder }
    return holder
  }
}

export class WorkspaceMemory {
  readonly log = new LogMemory()
  readonly #queries = new Map<string, FollowedQuery>()
  readonly #listings = new Map<string, FolderListing>()
  #newestVersions: ReadonlyMap<string, number> = new Map()

  query(name: string): FollowedQuery {
    const known = this.#queries.get(name) ?? new FollowedQuery()
    this.#queries.set(name, known)
    return known
  }

  listing(table: string): FolderListing {
    const known = this.#listings.get(table) ?? new FolderListing()
    this.#listings.set(table, known)
    return known
  }

  /**
   * What tells that nothing has moved since an earlier look: of all that a status is made of, sizes and times, and who holds what. Null
   * when something moved so lately that it cannot tell.
   */
  mark(workspace: string, holders: ReadonlyMap<string, LockHolder | null>, fx: Effects): string | null {
    const marks = new DiskMarks(fx)
    const databases = [logPathOf(workspace), topicsPath(workspace)]
    marks.add(...databases.flatMap((path) => [path, `${path}-wal`]))
    const tablesFolder = tablesFolderOf(workspace)
    const tables = fx.files.list(tablesFolder).filter((name) => !name.startsWith('.') && !name.startsWith('_'))
    for (const name of tables.sort()) {
      const folder = join(tablesFolder, name)
      marks.addText(name).add(join(folder, '_delta_log'))
      this.listing(name).marks(folder, marks)
      const newest = this.#newestVersions.get(name)
      if (newest !== undefined) marks.add(versionPath(folder, newest))
    }
    for (const [name, holder] of holders) {
      marks.addText(`${name} ${holder?.token ?? '-'}`)
      this.query(name).marks(workspace, name, marks)
    }
    return marks.text()
  }

  /** Keeps what is there, lets go of what is not. */
  keep(tables: readonly TableFacts[], queries: readonly string[]): void {
    const names = tables.map(({ name }) => name)
    this.log.forgetOthers(names)
    for (const name of this.#queries.keys()) if (!queries.includes(name)) this.#queries.delete(name)
    for (const name of this.#listings.keys()) if (!names.includes(name)) this.#listings.delete(name)
    this.#newestVersions = new Map(tables.flatMap(({ name, version }) => (version === null ? [] : [[name, version] as const])))
  }
}

/** Names of checkpoints whose queries nobody told us of, sorted. */
export function otherCheckpoints(workspace: string, queries: readonly QueryDefinition[], fx: Effects): string[] {
  const folder = join(workspace, 'checkpoints')
  return fx.files
    .list(folder)
    .filter((name) => !name.startsWith('.') && !queries.some((query) => query.name === name))
    .filter((name) => ['metadata', 'offsets', 'commits'].some((part) => fx.files.exists(join(folder, name, part))))
    .sort()
}
