/**
 * What counting needs of a data file: the hashes of its rows, and which records of a topic they are. From `_counts.db` where that
 * has it, else from the file itself, which is read once.
 */
import type { Effects } from '../effects.js'
import type { AddFile } from '../store/actions.js'
import type { OffsetRanges } from '../store/offset-ranges.js'
import { fileKey } from '../store/replay.js'
import { RowCounts, recordsOf } from '../store/row-counts.js'
import { hashRows } from '../store/row-hash.js'
import { keyedRowsOf } from './keyed-rows.js'
import type { KeyedRows } from './newest-by-key.js'
import { readFileRows } from './read-file-rows.js'
import type { TableView } from './table-view.js'

/** Thrown when a look has no time left: what is not counted yet is for the next one. */
export class StillCounting extends Error {
  override readonly name = 'StillCounting'
}

/** What was made of a file that had to be read. */
interface ReadFile {
  readonly hashes: Uint32Array
  readonly records: OffsetRanges | null
}

export class FileRows {
  readonly #fx: Effects
  readonly #tablesFolder: string
  #counts: RowCounts | null | undefined
  readonly #read = new Map<string, ReadFile>()
  readonly #keyed = new Map<string, KeyedRows | null>()
  #readBytes = 0
  #untilMs = Number.POSITIVE_INFINITY
  #hasReadOne = false
  #ranOut = false

  constructor(tablesFolder: string, fx: Effects) {
    this.#tablesFolder = tablesFolder
    this.#fx = fx
  }

  /** From now on files are read for so long; one at least, so that every look comes further. */
  limitTo(patienceMs: number): void {
    this.#untilMs = this.#fx.monotonicMs() + patienceMs
    this.#hasReadOne = false
    this.#ranOut = false
  }

  /** Whether the time was not enough. */
  get ranOut(): boolean {
    return this.#ranOut
  }

  /** The hashes of a file's rows (`hashRows`), all columns of the view. */
  async hashesOf(view: TableView, file: AddFile): Promise<Uint32Array> {
    this.#checkTime()
    const kept = isKept(view, file) ? this.#kept()?.find(view.snapshot.table, file.path) : null
    return kept ?? (await this.#readFile(view, file)).hashes
  }

  /** Which records of a topic a file's rows are; null for a table without such columns. */
  async recordsOf(view: TableView, file: AddFile): Promise<OffsetRanges | null> {
    this.#checkTime()
    const kept = isKept(view, file) ? this.#kept()?.findOffsets(view.snapshot.table, file.path) : null
    return kept ?? (await this.#readFile(view, file)).records
  }

  /** Keys and moments of a file's rows; null when the table has no such moments. Always from the file, which is read once. */
  async keyedRowsOf(view: TableView, file: AddFile, key: string, moment: string): Promise<KeyedRows | null> {
    const name = `${key}\n${moment}\n${view.snapshot.table}/${fileKey(file)}`
    let keyed = this.#keyed.get(name)
    if (keyed === undefined) {
      this.#checkTime()
      keyed = keyedRowsOf(await readFileRows(view, file, this.#fx, [key, moment]), key, moment)
      this.#keyed.set(name, keyed)
      this.#readBytes += keyed === null ? 0 : keyed.keys.byteLength + keyed.moments.byteLength
    }
    return keyed
  }

  /** Lets go of `_counts.db`; it is opened again when it is needed. What was read of files stays, within bounds. */
  close(): void {
    this.#counts?.close()
    this.#counts = undefined
    if (this.#readBytes <= READ_BYTES_MAX) return
    this.#read.clear()
    this.#keyed.clear()
    this.#readBytes = 0
  }

  #checkTime(): void {
    if (this.#hasReadOne && this.#fx.monotonicMs() > this.#untilMs) {
      this.#ranOut = true
      throw new StillCounting()
    }
    this.#hasReadOne = true
  }

  #kept(): RowCounts | null {
    if (this.#counts === undefined) this.#counts = RowCounts.openForReading(this.#tablesFolder, this.#fx)
    return this.#counts
  }

  async #readFile(view: TableView, file: AddFile): Promise<ReadFile> {
    const key = `${view.snapshot.metadata.schemaString}\n${view.snapshot.table}/${fileKey(file)}`
    const known = this.#read.get(key)
    if (known) return known
    const rows = await readFileRows(view, file, this.#fx)
    const read = { hashes: hashRows(rows), records: recordsOf(rows) }
    this.#read.set(key, read)
    this.#readBytes += read.hashes.byteLength
    return read
  }
}

/** `_counts.db` has all rows of a file, in the columns in which it was written. */
function isKept(view: TableView, file: AddFile): boolean {
  return view.hasOneSchema && file.deletionVector === null
}

/** What a file that is not in `_counts.db` came to is kept between looks up to this much: at most a million rows. */
const READ_BYTES_MAX = 16 * 1024 * 1024
