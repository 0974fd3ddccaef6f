/**
 * Rows and distinct rows of a table, exact, kept up from version to version by the files that came and went: what it costs
 * depends on what changed and not on how large the table is.
 */
import type { AddFile } from '../store/actions.js'
import { RowMultiset } from '../store/row-multiset.js'
import { fileChanges } from './file-changes.js'
import { type FileRows, StillCounting } from './file-rows.js'
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
  /** What is counted. */
  #files: readonly AddFile[] = []
  #shape = ''
  #newest: RowCount | null = null

  /**
   * Counts a table as it is in this view. An error leaves nothing counted, so that the next call counts anew; a look that has no time
   * left (`StillCounting`) is gone on with by the next.
   */
  async count(view: TableView, fileRows: FileRows): Promise<RowCount> {
    const { tableId, metadata, version, files } = view.snapshot
    const shape = `${tableId} ${metadata.schemaString}`
    if (shape !== this.#shape) this.#forget()
    this.#shape = shape
    try {
      await this.#moveTo(files, view, fileRows)
    } catch (error) {
      if (error instanceof StillCounting) throw error
      // A removed file that is gone from the disk cannot be taken out of the counts: they are made anew from what is there.
      this.#forget()
      await this.#countAnew(files, view, fileRows)
    }
    this.#newest = { rows: this.#rows.rowCount, distinct: this.#rows.distinctCount, version }
    return this.#newest
  }

  /** The last counts that were whole, of an earlier version; null for none. */
  get newest(): RowCount | null {
    return this.#newest
  }

  async #countAnew(files: readonly AddFile[], view: TableView, fileRows: FileRows): Promise<void> {
    try {
      await this.#moveTo(files, view, fileRows)
    } catch (error) {
      if (!(error instanceof StillCounting)) this.#forget()
      throw error
    }
  }

  async #moveTo(files: readonly AddFile[], view: TableView, fileRows: FileRows): Promise<void> {
    const { gone, added } = fileChanges(this.#files, files)
    if (gone.length > 0) {
      const hashes = []
      for (const file of gone) hashes.push(await fileRows.hashesOf(view, file))
      for (const rows of hashes) this.#rows.remove(rows)
      const isGone = new Set(gone)
      this.#files = this.#files.filter((file) => !isGone.has(file))
    }
    const counted = [...this.#files]
    if (added.length > 0) this.#files = counted
    for (const file of added) {
      this.#rows.add(await fileRows.hashesOf(view, file))
      counted.push(file)
    }
    this.#files = files
  }

  #forget(): void {
    if (this.#files.length > 0) this.#rows = new RowMultiset()
    this.#files = []
    this.#newest = null
  }
}
