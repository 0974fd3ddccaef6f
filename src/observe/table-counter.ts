/**
 * Rows and distinct rows of a table, exact, kept up from version to version by the files that came and went: what it costs
 * depends on what changed and not on how large the table is.
 */
import type { AddFile } from '../store/actions.js'
import { fileKey } from '../store/replay.js'
import { RowMultiset } from '../store/row-multiset.js'
import type { FileRows } from './file-rows.js'
import type { TableView } from './table-view.js'

export interface RowCount {
  readonly rows: number
  /** Whole rows that differ. */
  readonly distinct: number
  /** The version for which they are true. */
  readonly version: number
}

export class TableCounter {
  #rows = new RowMultiset()
  /** What is counted, by `fileKey`. */
  #files = new Map<string, AddFile>()
  #shape = ''

  /** Counts a table as it is in this view. An error leaves nothing counted, so that the next call counts anew. */
  async count(view: TableView, fileRows: FileRows): Promise<RowCount> {
    const { tableId, metadata, version } = view.snapshot
    const shape = `${tableId} ${metadata.schemaString}`
    if (shape !== this.#shape) this.#forget()
    this.#shape = shape
    const wanted = new Map(view.snapshot.files.map((file) => [fileKey(file), file]))
    try {
      for (const [key, file] of this.#files) {
        if (wanted.has(key)) continue
        this.#rows.remove(await fileRows.hashesOf(view, file))
        this.#files.delete(key)
      }
    } catch {
      // A removed file that is gone from the disk cannot be taken out of the counts: they are made anew from what is there.
      this.#forget()
    }
    try {
      for (const [key, file] of wanted) {
        if (this.#files.has(key)) continue
        this.#rows.add(await fileRows.hashesOf(view, file))
        this.#files.set(key, file)
      }
    } catch (error) {
      this.#forget()
      throw error
    }
    return { rows: this.#rows.rowCount, distinct: this.#rows.distinctCount, version }
  }

  #forget(): void {
    if (this.#files.size > 0) this.#rows = new RowMultiset()
    this.#files = new Map()
  }
}
