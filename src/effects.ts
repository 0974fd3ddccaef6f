/**
 * The seam to the world: clock, random, timers, kills and every write to a file.
 *
 * Everything else in src takes an `Effects` as its last argument, named `fx`, so that a test can replace the world and a
 * reader can see where the world is touched. `test/unit/tidy.test.ts` checks that no other file names these things.
 *
 * Files are written synchronously: a step of the protocol is a few system calls in a fixed order, and a thread pool between
 * them would only add a way to reorder them. A failed fsync ends the process: the kernel may have dropped the pages it could
 * not write, so a second fsync that succeeds would prove nothing.
 */
import { randomBytes, randomUUID } from 'node:crypto'
import * as fs from 'node:fs'
import { Socket } from 'node:net'
import { basename, dirname, join } from 'node:path'
import { addAbortSignal } from 'node:stream'
import { StreamtopError } from './errors.js'

/** What a create-if-absent came to. */
export type Created = 'created' | 'exists'

/** A file's identity, its size in bytes, its modification time in milliseconds since the epoch, and who may read it. */
export interface FileStatus {
  readonly size: number
  readonly modifiedMs: number
  readonly isFolder: boolean
  /** Who may read, write and execute it: the nine bits of POSIX. Null where the system has none. */
  readonly mode: number | null
  /** Which file it is, whatever its name: another one in its place has another. */
  readonly fileId: string
}

/** A file that is written piece by piece, for as long as it takes. Nothing is synced: it is no part of a workspace. */
export interface GrowingFile {
  /** Appends it whole or not at all. @throws ENOSPC and whatever else the system says, ENOENT when the file has been removed */
  append(text: string): void
  close(): void
}

/** Files, synchronously. Every write returns only after the bytes and the folder entry are synced, unless it says otherwise. */
export interface Files {
  /** The file's bytes; throws ENOENT when it is not there. */
  read(path: string): Buffer
  /** The file's bytes, or null when it is not there. */
  readIfPresent(path: string): Buffer | null
  /** The bytes in pieces, in order, of a file or a pipe; the iteration throws ENOENT when it is not there, an AbortError when the signal fires. */
  readPieces(path: string, signal: AbortSignal): AsyncIterable<Uint8Array>
  /** Names in a folder, unsorted; an empty list when the folder is not there. */
  list(folder: string): string[]
  /** Size and time of a path, or null when it is not there. */
  status(path: string): FileStatus | null
  exists(path: string): boolean
  /** Whether a path is a symbolic link, which everything else here follows. */
  isLink(path: string): boolean
  /** Makes a folder and what it lies in; each new folder's parent is synced, and once in a process the parent of one that is there. */
  makeFolder(folder: string): void
  /**
   * Creates a file whole or not at all, and never overwrites: temp file, fsync, link, unlink, fsync of the folder.
   * A Hadoop checksum left over from an earlier file of that name (`.<name>.crc`) is removed first, because it would no
   * longer fit.
   * @param temporary the temp file's path, on the same file system; beside the file, with a dot name, unless given
   */
  create(path: string, content: string | Uint8Array, temporary?: string): Created
  /**
   * Writes a new data file under its final name in two halves, synced at the end; `atHalf` is called between them, with a
   * function that syncs the first half for a caller who means to stop there. Throws EEXIST when the file is there.
   */
  writeInHalves(path: string, content: Uint8Array, atHalf: (sync: () => void) => Promise<void>): Promise<void>
  /** Makes an empty file that only its owner may read and write, to be written piece by piece. Throws EEXIST when the file is there. */
  createGrowing(path: string): GrowingFile
  /** Removes a file; nothing happens when it is not there. The folder is not synced. */
  remove(path: string): void
  /** Removes a folder and all in it; nothing happens when it is not there. */
  removeFolder(path: string): void
  /** Renames and syncs the folders of both names. */
  rename(from: string, to: string): void
  /** Syncs a file that somebody else wrote. */
  syncFile(path: string): void
  /** Syncs a folder's entries. */
  syncFolder(folder: string): void
}

/** The world as streamtop may touch it. */
export interface Effects {
  readonly files: Files
  /** Milliseconds since the epoch. */
  nowMs(): number
  /** What is added to UTC for the local time of day at that moment, in minutes: 120 for UTC+2. */
  timeZoneOffsetMinutes(epochMs: number): number
  /** Milliseconds, monotonic, with a fraction: for durations. */
  monotonicMs(): number
  /** A random UUID, version 4. */
  randomUuid(): string
  /** Random bytes. */
  randomBytes(count: number): Uint8Array
  /** Resolves after that many milliseconds, or at once when the signal fires. */
  sleep(durationMs: number, signal?: AbortSignal): Promise<void>
  /** Sends a signal to a process, this one included; false when there is no such process. Signal 0 only asks. */
  kill(pid: number, signal: NodeJS.Signals | 0): boolean
  /** When a process started, as a text that no later process with the same pid repeats; null when it is not running. */
  processStart(pid: number): string | null
}

/** Node takes a longer one for none. */
const LONGEST_TIMER_MS = 2 ** 31 - 1

/** The real world. */
export const realEffects: Effects = {
  files: realFiles(),
  nowMs: () => Date.now(),
  timeZoneOffsetMinutes: (epochMs) => -new Date(epochMs).getTimezoneOffset(),
  monotonicMs: () => performance.now(),
  randomUuid: () => randomUUID(),
  randomBytes: (count) => randomBytes(count),
  sleep: (durationMs, signal) =>
    new Promise((resolve) => {
      if (signal?.aborted) return resolve()
      const done = () => {
        clearTimeout(timer)
        signal?.removeEventListener('abort', done)
        resolve()
      }
      let timer: NodeJS.Timeout
      const wait = (leftMs: number): void => {
        timer = setTimeout(() => (leftMs > LONGEST_TIMER_MS ? wait(leftMs - LONGEST_TIMER_MS) : done()), Math.min(leftMs, LONGEST_TIMER_MS))
      }
      wait(durationMs)
      signal?.addEventListener('abort', done)
    }),
  kill: (pid, signal) => {
    try {
      return process.kill(pid, signal)
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ESRCH') return false
      if ((error as NodeJS.ErrnoException).code === 'EPERM' && signal === 0) return true
      throw error
    }
  },
  processStart: (pid) => startOfProcess(pid),
}

/**
 * A pipe in the file system, waited for by the event loop. Opened or read in a thread, it would keep the process from its end for as long
 * as nobody writes.
 */
function pipePieces(path: string, signal: AbortSignal): AsyncIterable<Uint8Array> {
  const fd = fs.openSync(path, fs.constants.O_RDONLY | fs.constants.O_NONBLOCK)
  return addAbortSignal(signal, new Socket({ fd, readable: true, writable: false }))
}

function realFiles(): Files {
  /** Folders whose entry this process has synced, or found and seen to. */
  const durableFolders = new Set<string>()
  const files: Files = {
    read: (path) => fs.readFileSync(path),
    // Asked first: the next version of a table is looked for many times a batch and seldom there, and an exception costs far more.
    readIfPresent: (path) => (fs.existsSync(path) ? unlessMissing(() => fs.readFileSync(path)) : null),
    readPieces: (path, signal) =>
      unlessMissing(() => fs.statSync(path))?.isFIFO() ? pipePieces(path, signal) : fs.createReadStream(path, { signal, highWaterMark: 256 * 1024 }),
    list: (folder) => unlessMissing(() => fs.readdirSync(folder)) ?? [],
    status: (path) => {
      const stat = unlessMissing(() => fs.statSync(path))
      if (!stat) return null
      const mode = process.platform === 'win32' ? null : stat.mode & 0o777
      return { size: stat.size, modifiedMs: Math.trunc(stat.mtimeMs), isFolder: stat.isDirectory(), mode, fileId: `${stat.dev}:${stat.ino}` }
    },
    exists: (path) => fs.existsSync(path),
    isLink: (path) => unlessMissing(() => fs.lstatSync(path))?.isSymbolicLink() ?? false,
    makeFolder(folder) {
      const parent = dirname(folder)
      if (fs.existsSync(folder)) {
        // Its maker may have died before it had synced the parent.
        if (!durableFolders.has(folder)) syncIfPossible(parent)
        durableFolders.add(folder)
        return
      }
      files.makeFolder(parent)
      try {
        fs.mkdirSync(folder)
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
      }
      // Also when another process was faster: it may die before it has synced, and what we write inside must not go with it.
      files.syncFolder(parent)
      durableFolders.add(folder)
    },
    create(path, content, given) {
      const folder = dirname(path)
      const temporary = given ?? join(folder, `.${basename(path)}.${randomUUID()}.tmp`)
      const file = fs.openSync(temporary, 'wx', 0o644)
      try {
        writeAll(file, toBytes(content))
        sync(file, temporary)
      } catch (error) {
        fs.closeSync(file)
        fs.rmSync(temporary, { force: true })
        throw error
      }
      fs.closeSync(file)
      const checksum = join(folder, `.${basename(path)}.crc`)
      if (fs.existsSync(checksum) && !fs.existsSync(path)) fs.unlinkSync(checksum)
      let created: Created = 'created'
      try {
        fs.linkSync(temporary, path)
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'EEXIST') {
          fs.rmSync(temporary, { force: true })
          throw error
        }
        created = 'exists'
      }
      fs.unlinkSync(temporary)
      if (created === 'created') files.syncFolder(folder)
      return created
    },
    async writeInHalves(path, content, atHalf) {
      const file = fs.openSync(path, 'wx', 0o644)
      try {
        const half = content.length >> 1
        writeAll(file, content.subarray(0, half))
        await atHalf(() => sync(file, path))
        writeAll(file, content.subarray(half))
        sync(file, path)
      } finally {
        fs.closeSync(file)
      }
    },
    createGrowing: (path) => growingFile(path, fs.openSync(path, 'ax', 0o600)),
    remove: (path) => void unlessMissing(() => fs.unlinkSync(path)),
    removeFolder: (path) => fs.rmSync(path, { recursive: true, force: true }),
    rename(from, to) {
      fs.renameSync(from, to)
      files.syncFolder(dirname(to))
      if (dirname(from) !== dirname(to)) files.syncFolder(dirname(from))
    },
    syncFile: (path) => files.syncFolder(path),
    syncFolder(folder) {
      const handle = fs.openSync(folder, 'r')
      try {
        sync(handle, folder)
      } finally {
        fs.closeSync(handle)
      }
    },
  }
  return files
}

function growingFile(path: string, file: number): GrowingFile {
  let size = 0
  return {
    append(text) {
      // The system would go on writing to a file that nobody can find any more.
      if (fs.fstatSync(file).nlink === 0) throw Object.assign(new Error(`${path} has been removed`), { code: 'ENOENT' })
      const content = toBytes(text)
      try {
        writeAll(file, content)
      } catch (error) {
        fs.ftruncateSync(file, size)
        throw error
      }
      size += content.length
    },
    close: () => fs.closeSync(file),
  }
}

function toBytes(content: string | Uint8Array): Uint8Array {
  return typeof content === 'string' ? Buffer.from(content, 'utf8') : content
}

/** Writes every byte; a single write call may stop short. */
function writeAll(file: number, content: Uint8Array): void {
  for (let written = 0; written < content.length; ) {
    written += fs.writeSync(file, content, written, content.length - written)
  }
}

function sync(file: number, path: string): void {
  try {
    fs.fsyncSync(file)
  } catch (error) {
    stopForFailedSync(path, error)
  }
}

/**
 * Ends this process at once, with a last word: what could not be synced may be lost, although it can still be read.
 * @param what of a file, its path
 */
export function stopForFailedSync(what: string, cause: unknown): void {
  const error = new StreamtopError('sync-failed', `${what} could not be synced: ${(cause as Error).message}`, {
    hint: 'what this process wrote last may be lost, so it has ended; look at the disk (the system log says more), then run it again: it finds what is there',
    cause,
  })
  tellOfFailedSync(error)
  process.kill(process.pid, 'SIGKILL')
}

/** Straight to the file: from a thread, `process.stderr` would need the thread that is about to end. */
const sayOnStderr = (error: StreamtopError): void => void fs.writeSync(2, `streamtop: ${error.message}\n${error.hint}\n`)

let teller: (error: StreamtopError, say: (error: StreamtopError) => void) => void = sayOnStderr

/** Says why the process is about to end, as whoever asked for it with `onFailedSync` does, else on stderr. */
export function tellOfFailedSync(error: StreamtopError): void {
  teller(error, sayOnStderr)
}

/**
 * @param tell called before the process ends for a failed sync, with a function that says it on stderr; there is no time for what waits
 * @returns a function that takes it back
 */
export function onFailedSync(tell: typeof teller): () => void {
  const before = teller
  teller = tell
  return () => {
    teller = before
  }
}

/** Of a folder that may be somebody else's: one that may not be opened, or is nothing that can be synced, is not ours to see to. */
function syncIfPossible(folder: string): void {
  let handle: number
  try {
    handle = fs.openSync(folder, 'r')
  } catch {
    return
  }
  try {
    fs.fsyncSync(handle)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EINVAL') stopForFailedSync(folder, error)
  } finally {
    fs.closeSync(handle)
  }
}

function unlessMissing<T>(read: () => T): T | null {
  try {
    return read()
  } catch (error) {
    const { code, path } = error as NodeJS.ErrnoException
    // A name that is too long for the disk is no file's.
    if (code === 'ENOENT' || code === 'ENAMETOOLONG') return null
    // Below a file there is nothing, as below the README in tables/ of a clone; a file in the very place of a folder is no empty folder.
    if (code === 'ENOTDIR' && path !== undefined && !fs.existsSync(path)) return null
    throw error
  }
}

/** A file of a process in /proc; null when the process ends between the file's being opened and read. */
function readUnlessEnded(path: string): string | null {
  try {
    return fs.readFileSync(path, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ESRCH') return null
    throw error
  }
}

/** Linux has the start time, in clock ticks since boot, as the 22nd field of /proc/<pid>/stat (proc(5)); elsewhere the pid alone counts. */
function startOfProcess(pid: number): string | null {
  const stat = unlessMissing(() => readUnlessEnded(`/proc/${pid}/stat`))
  if (stat !== null) {
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    // A process that was killed stands there until its parent has taken note; it runs no more.
    return fields[0] === 'Z' || fields[0] === 'X' ? null : (fields[19] ?? 'unknown')
  }
  if (fs.existsSync('/proc/self/stat')) return null
  return realEffects.kill(pid, 0) ? 'unknown' : null
}
