/**
 * Where the rows of two sets of files differ, as multisets: rows that one has more often than the other are kept, all others
 * cancel out. It follows both sides file by file, so that a look costs what has changed.
 */
import type { AddFile } from '../store/actions.js'
import { fileKey } from '../store/replay.js'
import { RowMultiset } from '../store/row-multiset.js'
import type { FileRows } from './file-rows.js'
import type { TableView } from './table-view.js'

/** Files of a table, with the view that their rows are read by. */
export interface SideFiles {
  readonly view: TableView
  readonly files: readonly AddFile[]
}

interface Side {
  /** Rows that this side has more often than the other. */
  readonly surplus: RowMultiset
  readonly files: Map<string, AddFile>
  shape: string
}

export class RowBalance {
  #left = newSide()
  #right = newSide()

  /** Moves both sides to these files; null stands for a table that is not there. An error leaves nothing compared. */
  async compare(left: SideFiles | null, right: SideFiles | null, fileRows: FileRows): Promise<{ readonly onlyLeft: number; readonly onlyRight: number }> {
    if (this.#left.shape !== shapeOf(left) || this.#right.shape !== shapeOf(right)) this.#forget(left, right)
    try {
      await this.#move(left, right, fileRows)
    } catch {
      // A file that is gone cannot be taken out again, so the comparison begins anew with the files that are to be there.
      this.#forget(left, right)
      await this.#move(left, right, fileRows)
    }
    return { onlyLeft: this.#left.surplus.rowCount, onlyRight: this.#right.surplus.rowCount }
  }

  async #move(left: SideFiles | null, right: SideFiles | null, fileRows: FileRows): Promise<void> {
    const ofLeft = changesOf(this.#left, left)
    const ofRight = changesOf(this.#right, right)
    // The two sides go in step, so that equal rows meet early and little has to be kept on the way.
    for (let at = 0; at < Math.max(ofLeft.length, ofRight.length); at++) {
      await apply(ofLeft[at], left, this.#left, this.#right, fileRows)
      await apply(ofRight[at], right, this.#right, this.#left, fileRows)
    }
  }

  #forget(left: SideFiles | null, right: SideFiles | null): void {
    this.#left = newSide(shapeOf(left))
    this.#right = newSide(shapeOf(right))
  }
}

interface Change {
  readonly key: string
  readonly file: AddFile
  readonly isAdded: boolean
}

async function apply(change: Change | undefined, wanted: SideFiles | null, own: Side, other: Side, fileRows: FileRows): Promise<void> {
  if (change === undefined || wanted === null) return
  const hashes = await fileRows.hashesOf(wanted.view, change.file)
  if (change.isAdded) {
    own.surplus.addOrCancel(hashes, other.surplus)
    own.files.set(change.key, change.file)
  } else {
    other.surplus.addOrCancel(hashes, own.surplus)
    own.files.delete(change.key)
  }
}

function changesOf(side: Side, wanted: SideFiles | null): Change[] {
  const files = new Map(wanted?.files.map((file) => [fileKey(file), file]))
  const gone = [...side.files].filter(([key]) => !files.has(key)).map(([key, file]) => ({ key, file, isAdded: false }))
  const added = [...files].filter(([key]) => !side.files.has(key)).map(([key, file]) => ({ key, file, isAdded: true }))
  return [...gone, ...added]
}

function newSide(shape = ''): Side {
  return { surplus: new RowMultiset(), files: new Map(), shape }
}

function shapeOf(side: SideFiles | null): string {
  return side === null ? '' : `${side.view.snapshot.tableId} ${side.view.snapshot.metadata.schemaString}`
}
