/**
 * Records what some work does to a folder, as the effects of a modelled disk: real work on a real folder. The calls of node:fs are seen
 * one by one. SQLite writes its files itself, so its files are looked at after each call into it, and what lies between two looks is taken
 * apart as SQLite's documents and its source (wal.c, pager.c, os_unix.c) say; system-calls.harness.ts compares the syncs with strace's:
 *
 * - A write-ahead log gets a header, which is synced, with its folder where the file is new; then frames. A commit with synchronous=FULL
 *   syncs them; one with NORMAL does not, and they are durable with the next sync. What is not synced may be lost whole or in either half.
 * - Moving the log into the database syncs the log, writes pages, and syncs the database. The last one who closes it removes the log.
 * - A commit with a rollback journal is there or not, as SQLite promises; a journal that came back would undo it, so it is never taken as
 *   durable. With synchronous=OFF (the cache of counts) its pages may be there in part.
 */
import Sqlite, { type Database } from 'better-sqlite3'
import { existsSync, readFileSync } from 'node:fs'
import { createRequire, syncBuiltinESMExports } from 'node:module'
import { dirname, join, relative, sep } from 'node:path'
import { type Disk, diskAfter, diskOf, type Effect, type EntryChange, type NodeId, type Recording } from './disk.js'

/** Says, while something is recorded, that files are there for good: a loss of power must not take them any more. */
export type Tell = (what: string, isTold: (path: string) => boolean) => void

const nodeFs = createRequire(import.meta.url)('node:fs') as typeof import('node:fs')
type Fs = Record<string, (...given: never[]) => unknown>

/**
 * @param folder where the work is done
 * @param before what was done there earlier and is not all durable, with how many of its effects; else everything there is durable
 */
export async function recordWork(folder: string, work: (tell: Tell) => Promise<void>, before?: { recording: Recording; count: number }): Promise<Recording> {
  const recorder = new Recorder(folder, before)
  const restore = [recorder.watchFiles(), recorder.watchSqlite()]
  try {
    await work((what, isTold) => recorder.tell(what, isTold))
  } finally {
    for (const undo of restore) undo()
  }
  return recorder
}

class Recorder implements Recording {
  readonly base: Disk
  readonly madeFolders: Set<NodeId>
  readonly effects: Effect[]
  readonly #folder: string
  /** The disk as the running program sees it. */
  readonly #now: Disk
  #nextNode = 1
  readonly #open = new Map<number, { readonly node: NodeId; readonly path: string; at: number }>()
  /** Files of SQLite's whose folder is synced with their first sync. */
  readonly #newLogs = new Set<NodeId>()

  constructor(folder: string, before?: { recording: Recording; count: number }) {
    this.#folder = folder
    this.base = before ? before.recording.base : diskOf(folder, () => this.#nextNode++)
    this.madeFolders = new Set(before?.recording.madeFolders)
    this.effects = before ? before.recording.effects.slice(0, before.count) : []
    this.#now = before ? diskAfter(before.recording, before.count) : this.base.copy()
    for (const node of [...this.#now.folders.keys(), ...this.#now.files.keys(), ...this.madeFolders]) this.#nextNode = Math.max(this.#nextNode, node + 1)
  }

  tell(what: string, isTold: (path: string) => boolean): void {
    const files = [...this.#now.contents()].filter(([path]) => isTold(path)).map(([path, content]) => [path, content.toString('latin1')] as const)
    this.effects.push({ kind: 'told', what, files: new Map(files) })
  }

  watchFiles(): () => void {
    const patched: [string, unknown][] = []
    const after = <Name extends keyof typeof nodeFs>(name: Name, note: (given: readonly unknown[], result: unknown) => void) => {
      const original = (nodeFs as unknown as Fs)[name as string] as (...given: unknown[]) => unknown
      patched.push([name as string, original])
      ;(nodeFs as unknown as Record<string, unknown>)[name as string] = (...given: unknown[]) => {
        const result = original(...given)
        note(given, result)
        return result
      }
    }
    after('openSync', ([path, flags], fd) => this.#opened(String(path), String(flags), fd as number))
    after('closeSync', ([fd]) => void this.#open.delete(fd as number))
    after('writeSync', ([fd, bytes, offset, length], written) =>
      this.#wrote(fd as number, bytes as Uint8Array, offset as number, length as number, written as number),
    )
    after('fsyncSync', ([fd]) => this.#synced(this.#open.get(fd as number)))
    after('linkSync', ([from, to]) => this.#changed('link', [this.#entry(String(to), this.#find(String(from)) ?? null)]))
    after('unlinkSync', ([path]) => this.#changed('unlink', [this.#entry(String(path), null)]))
    after('rmSync', ([path]) => this.#removed(this.#inFolder(String(path))))
    after('mkdirSync', ([path]) => this.#madeFolder(String(path)))
    after('renameSync', ([from, to]) => this.#changed('rename', [this.#entry(String(to), this.#find(String(from)) ?? null), this.#entry(String(from), null)]))
    syncBuiltinESMExports()
    return () => {
      for (const [name, original] of patched) (nodeFs as unknown as Record<string, unknown>)[name] = original
      syncBuiltinESMExports()
    }
  }

  watchSqlite(): () => void {
    const probe = new Sqlite(':memory:')
    const statements = Object.getPrototypeOf(probe.prepare('SELECT 1')) as Fs
    probe.close()
    const databases = Sqlite.prototype as unknown as Fs
    const patched: [Fs, string, (...given: never[]) => unknown][] = []
    let isLooking = false
    const around = (owner: Fs, name: string, databaseOf: (self: unknown) => Database) => {
      const original = owner[name] as (...given: unknown[]) => unknown
      const recorder = this
      patched.push([owner, name, original])
      owner[name] = function (this: unknown, ...given: unknown[]) {
        const database = databaseOf(this)
        const path = recorder.#inFolder(database.name)
        if (isLooking || database.memory || path === null || database.readonly || !database.open) return original.apply(this, given)
        const modeOf = () => {
          isLooking = true
          try {
            return database.pragma('synchronous', { simple: true }) as number
          } finally {
            isLooking = false
          }
        }
        const before = name === 'close' ? modeOf() : null
        try {
          return original.apply(this, given)
        } finally {
          recorder.#lookAtDatabase(path, before ?? modeOf())
        }
      }
    }
    for (const name of ['run', 'get', 'all']) around(statements, name, (self) => (self as { database: Database }).database)
    for (const name of ['exec', 'close']) around(databases, name, (self) => self as Database)
    return () => {
      for (const [owner, name, original] of patched) owner[name] = original
    }
  }

  #inFolder(path: string): string | null {
    const inside = relative(this.#folder, path)
    return inside === '..' || inside.startsWith(`..${sep}`) ? null : inside
  }

  #find(path: string): NodeId | undefined {
    const inside = this.#inFolder(path)
    return inside === null ? undefined : this.#now.find(inside)
  }

  #do(effect: Effect): void {
    this.#now.apply(effect)
    this.effects.push(effect)
  }

  #entry(path: string, node: NodeId | null): EntryChange & { readonly path: string } {
    const inside = this.#inFolder(path)
    const folder = inside === null ? undefined : this.#now.find(dirname(inside) === '.' ? '' : dirname(inside))
    return { folder: folder ?? -1, name: path.slice(path.lastIndexOf(sep) + 1), node, path: inside ?? '' }
  }

  #changed(what: string, changes: readonly (EntryChange & { readonly path: string })[]): void {
    const seen = changes.filter(({ folder }) => folder >= 0)
    if (seen.length > 0) this.#do({ kind: 'entries', what: `${what} ${seen[0]?.path}`, changes: seen })
  }

  #opened(path: string, flags: string, fd: number): void {
    const inside = this.#inFolder(path)
    if (inside === null) return
    let node = this.#now.find(inside)
    if (node === undefined && flags.includes('w')) {
      node = this.#nextNode++
      this.#changed('create', [this.#entry(path, node)])
    }
    if (node !== undefined) this.#open.set(fd, { node, path: inside, at: 0 })
  }

  #wrote(fd: number, bytes: Uint8Array, offset: number, length: number, written: number): void {
    const file = this.#open.get(fd)
    if (!file) return
    const from = offset ?? 0
    const content = Buffer.from(bytes.subarray(from, from + Math.min(length ?? bytes.length, written)))
    this.#do({ kind: 'write', what: `write ${file.path}`, node: file.node, offset: file.at, bytes: content, pageBytes: null })
    file.at += content.length
  }

  #synced(file: { readonly node: NodeId; readonly path: string } | undefined): void {
    if (file) this.effects.push({ kind: 'sync', what: `sync ${file.path === '' ? 'the workspace' : file.path}`, node: file.node })
  }

  #madeFolder(path: string): void {
    const node = this.#nextNode++
    this.madeFolders.add(node)
    this.#now.folders.set(node, new Map())
    this.#changed('mkdir', [this.#entry(path, node)])
  }

  #removed(path: string | null): void {
    const node = path === null ? undefined : this.#now.find(path)
    if (path === null || node === undefined) return
    for (const name of this.#now.folders.get(node)?.keys() ?? []) this.#removed(`${path}/${name}`)
    this.#changed('remove', [this.#entry(join(this.#folder, path), null)])
  }

  /** Compares a database's files with what they held, and takes the difference apart. */
  #lookAtDatabase(path: string, synchronous: number): void {
    const [database, log] = [readIfThere(join(this.#folder, path)), readIfThere(join(this.#folder, `${path}-wal`))]
    const known = (name: string) => this.#now.files.get(this.#now.find(name) ?? -1)
    const [databaseBefore, logBefore] = [known(path), known(`${path}-wal`)]
    const hasLog = (databaseBefore?.[18] ?? 1) === 2
    if (database && !databaseBefore) this.#createDatabaseFile(path)
    if (log && !logBefore) this.#newLogs.add(this.#createDatabaseFile(`${path}-wal`))
    if (log && log.length > 0) this.#lookAtLog(`${path}-wal`, known(`${path}-wal`) ?? Buffer.alloc(0), log, synchronous)

    const changed = database && changedPages(known(path) ?? Buffer.alloc(0), database, 0, PAGE_BYTES)
    if (changed && hasLog) {
      this.#syncDatabaseFile(`${path}-wal`)
      this.#writePages(path, changed, PAGE_BYTES)
      this.#syncDatabaseFile(path)
    } else if (changed && synchronous === 0) this.#writePages(path, changed, PAGE_BYTES)
    else if (changed) {
      // The journal's first sync takes the folder along.
      this.#syncFolderOf(path)
      // Until it is synced the journal would undo it. Turned into one with a log, there is no journal any more that could come back.
      const isDurable = database[18] === 2
      this.#writePages(path, { offset: 0, bytes: database }, database.length, isDurable)
      if (isDurable) this.#syncDatabaseFile(path)
    }
    if (logBefore && !log) this.#changed('unlink', [this.#entry(join(this.#folder, `${path}-wal`), null)])
  }

  #lookAtLog(path: string, before: Buffer, after: Buffer, synchronous: number): void {
    const header = after.subarray(0, LOG_HEADER_BYTES)
    if (!before.subarray(0, LOG_HEADER_BYTES).equals(header)) {
      this.#writePages(path, { offset: 0, bytes: header }, LOG_HEADER_BYTES)
      if (synchronous > 0) this.#syncDatabaseFile(path)
    }
    const frames = changedPages(before, after, LOG_HEADER_BYTES, FRAME_BYTES)
    if (!frames) return
    this.#writePages(path, frames, FRAME_BYTES)
    if (synchronous >= 2) this.#syncDatabaseFile(path)
  }

  #createDatabaseFile(path: string): NodeId {
    const node = this.#nextNode++
    this.#changed('create', [this.#entry(join(this.#folder, path), node)])
    return node
  }

  #writePages(path: string, { offset, bytes }: { readonly offset: number; readonly bytes: Buffer }, pageBytes: number, isDurable = false): void {
    this.#do({ kind: 'write', what: `write ${path}`, node: this.#now.find(path) ?? -1, offset, bytes, pageBytes, isDurable })
  }

  #syncDatabaseFile(path: string): void {
    const node = this.#now.find(path)
    if (node === undefined) return
    this.#synced({ node, path })
    if (this.#newLogs.delete(node)) this.#syncFolderOf(path)
  }

  #syncFolderOf(path: string): void {
    const folder = dirname(path) === '.' ? '' : dirname(path)
    const node = this.#now.find(folder)
    if (node !== undefined) this.#synced({ node, path: folder })
  }
}

const PAGE_BYTES = 4096
/** Of a write-ahead log (SQLite file format, "The Write-Ahead Log"). */
const LOG_HEADER_BYTES = 32
const FRAME_BYTES = PAGE_BYTES + 24

function readIfThere(path: string): Buffer | null {
  return existsSync(path) ? readFileSync(path) : null
}

/** From the first page that differs to the last; null when none does. */
function changedPages(before: Buffer, after: Buffer, from: number, pageBytes: number): { readonly offset: number; readonly bytes: Buffer } | null {
  let [first, end] = [-1, -1]
  for (let at = from; at < after.length; at += pageBytes) {
    if (before.subarray(at, at + pageBytes).equals(after.subarray(at, at + pageBytes))) continue
    if (first < 0) first = at
    end = Math.min(at + pageBytes, after.length)
  }
  return first < 0 ? null : { offset: first, bytes: Buffer.from(after.subarray(first, end)) }
}
