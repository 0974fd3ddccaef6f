/**
 * What the disk needs for one batch and nothing else: the nine syncs and the bytes of its files, in the pattern in which
 * streamtop writes them. Three files are created by temp file, sync, link, unlink and sync of the folder (offsets, version,
 * commit), one data file is written and synced with its folder, and the SQLite log gets its frames and one sync.
 */
import { closeSync, fsyncSync, linkSync, mkdirSync, openSync, unlinkSync, writeSync } from 'node:fs'
import { join } from 'node:path'

/** Bytes of each file of a batch. */
export interface BatchBytes {
  readonly offsets: number
  readonly data: number
  readonly version: number
  readonly commit: number
  /** Of the write-ahead log of SQLite. */
  readonly wal: number
}

/** The log starts again from its beginning when it has grown to this, as SQLite's does after a checkpoint. */
const WAL_BYTES_MAX = 4_000_000

export class BatchFloor {
  readonly #folders: Record<'offsets' | 'data' | 'version' | 'commit', string>
  readonly #wal: number
  readonly #bytes: BatchBytes
  #walAt = 0
  #number = 0

  constructor(folder: string, bytes: BatchBytes) {
    this.#bytes = bytes
    const made = (name: string) => {
      mkdirSync(join(folder, name), { recursive: true })
      return join(folder, name)
    }
    this.#folders = { offsets: made('offsets'), data: made('data'), version: made('version'), commit: made('commit') }
    this.#wal = openSync(join(folder, 'wal'), 'w')
  }

  /** Milliseconds of one batch. */
  run(): number {
    const startedMs = performance.now()
    const name = String(this.#number++)
    created(this.#folders.offsets, name, this.#bytes.offsets)
    written(join(this.#folders.data, name), this.#bytes.data)
    syncedFolder(this.#folders.data)
    created(this.#folders.version, name, this.#bytes.version)
    if (this.#walAt + this.#bytes.wal > WAL_BYTES_MAX) this.#walAt = 0
    writeSync(this.#wal, Buffer.alloc(this.#bytes.wal), 0, this.#bytes.wal, this.#walAt)
    this.#walAt += this.#bytes.wal
    fsyncSync(this.#wal)
    created(this.#folders.commit, name, this.#bytes.commit)
    return performance.now() - startedMs
  }

  close(): void {
    closeSync(this.#wal)
  }
}

function created(folder: string, name: string, size: number): void {
  const temporary = join(folder, `.${name}.tmp`)
  written(temporary, size)
  linkSync(temporary, join(folder, name))
  unlinkSync(temporary)
  syncedFolder(folder)
}

function written(path: string, size: number): void {
  const file = openSync(path, 'wx')
  writeSync(file, Buffer.alloc(size))
  fsyncSync(file)
  closeSync(file)
}

function syncedFolder(folder: string): void {
  const handle = openSync(folder, 'r')
  fsyncSync(handle)
  closeSync(handle)
}
