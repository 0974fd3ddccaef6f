/** What is made of the files of a table, followed file by file from look to look, so that a look costs what came and went. */
import type { AddFile } from '../store/actions.js'
import { type OffsetRanges, NO_OFFSETS, unionOffsets } from '../store/offset-ranges.js'
import { fileChanges } from './file-changes.js'
import { type FileRows, StillCounting } from './file-rows.js'
import { NewestByKey } from './newest-by-key.js'
import type { TableView } from './table-view.js'

/** The records of a topic that a table holds. */
export class FollowedRecords {
  #present: OffsetRanges = NO_OFFSETS
  #files: readonly AddFile[] = []
  #shape = ''

  /** Null for a table without the columns that tell; throws what makes a file unreadable. */
  async of(view: TableView, fileRows: FileRows): Promise<OffsetRanges | null> {
    const { files } = view.snapshot
    if (this.#shape !== shapeOf(view) || fileChanges(this.#files, files).gone.length > 0) this.#forget(shapeOf(view))
    const counted = [...this.#files]
    const parts: OffsetRanges[] = []
    try {
      for (const file of fileChanges(this.#files, files).added) {
        const records = await fileRows.recordsOf(view, file)
        if (records === null) return null
        parts.push(records)
        counted.push(file)
      }
    } finally {
      // Also what a look got done that then had no time left.
      if (parts.length > 0) this.#present = unionOffsets(this.#present, ...parts)
      this.#files = counted.length === files.length ? files : counted
    }
    return this.#present
  }

  #forget(shape: string): void {
    this.#present = NO_OFFSETS
    this.#files = []
    this.#shape = shape
  }
}

/** The newest moment of each key of some files of a table. */
export class FollowedKeys {
  #newest = new NewestByKey()
  #files: readonly AddFile[] = []
  #shape = ''

  /** Null when the moments are of a type that is not compared; throws what makes a file unreadable. */
  async of(view: TableView, files: readonly AddFile[], key: string, moment: string, fileRows: FileRows): Promise<NewestByKey | null> {
    const shape = `${shapeOf(view)} ${key} ${moment}`
    if (this.#shape !== shape) this.#forget(shape)
    const { gone, added } = fileChanges(this.#files, files)
    const counted = [...this.#files]
    if (added.length > 0) this.#files = counted
    // What comes is added first: a MERGE writes most rows again, and with both copies there their newest moment stays known.
    for (const file of added) {
      const rows = await fileRows.keyedRowsOf(view, file, key, moment)
      if (rows === null) return null
      this.#newest.add(rows)
      counted.push(file)
    }
    if (gone.length > 0 && !(await this.#remove(gone, view, key, moment, fileRows))) {
      this.#forget(shape)
      return this.of(view, files, key, moment, fileRows)
    }
    this.#files = files
    return this.#newest
  }

  /** False when the rest cannot be told any more. */
  async #remove(gone: readonly AddFile[], view: TableView, key: string, moment: string, fileRows: FileRows): Promise<boolean> {
    for (const file of gone) {
      let rows: Awaited<ReturnType<FileRows['keyedRowsOf']>>
      try {
        rows = await fileRows.keyedRowsOf(view, file, key, moment)
      } catch (error) {
        if (error instanceof StillCounting) throw error
        return false
      }
      if (rows === null || !this.#newest.remove(rows)) return false
      this.#files = this.#files.filter((one) => one !== file)
    }
    return true
  }

  #forget(shape: string): void {
    this.#newest = new NewestByKey()
    this.#files = []
    this.#shape = shape
  }
}

function shapeOf({ snapshot }: TableView): string {
  return `${snapshot.tableId} ${snapshot.metadata.schemaString}`
}
