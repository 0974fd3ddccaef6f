/**
 * Where the rows of two sets of files differ, as multisets: rows that one has more often than the other are kept, all others
 * cancel out. It follows both sides file by file, so that a look costs what has changed.
 */
import type { AddFile } from '../store/actions.js'
import { RowMultiset } from '../store/row-multiset.js'
import { fileChanges } from './file-changes.js'
import { type FileRows, StillCounting } from './file-rows.js'
import type { TableView } from './table-view.js'

/** Files of a table, with the view that their rows are read by. */
export interface SideFiles {
  readonly view: TableView
  readonly files: readonly AddFile[]
}

interface Side {
  /** Rows that this side has more often than the other. */
  readonly surplus: RowMultiset
  files: readonly AddFile[]
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
    } catch (error) {
      if (error instanceof StillCounting) throw error
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
    this.#left.files = left?.files ?? []
    this.#right.files = right?.files ?? []
  }

  #forget(left: SideFiles | null, right: SideFiles | null): void {
    this.#left = newSide(shapeOf(left))
    this.#right = newSide(shapeOf(right))
  }
}

interface Change {
  readonly file: AddFile
  readonly isAdded: boolean
}

async function apply(change: Change | undefined, wanted: SideFiles | null, own: Side, other: Side, fileRows: FileRows): Promise<void> {
  if (change === undefined || wanted === null) return
  const hashes = await fileRows.hashesOf(wanted.view, change.file)
  const now = own.files as AddFile[]
  if (change.isAdded) {
    own.surplus.addOrCancel(hashes, other.surplus)
    now.push(change.file)
  } else {
    other.surplus.addOrCancel(hashes, own.surplus)
    now.splice(now.indexOf(change.file), 1)
  }
}

/** What is to be done, one file after the other; the side then has a list of its own, true at each moment in between. */
function changesOf(side: Side, wanted: SideFiles | null): Change[] {
  const { gone, added } = fileChanges(side.files, wanted?.files ?? [])
  if (gone.length + added.length > 0) side.files = [...side.files]
  return [...gone.map((file) => ({ file, isAdded: false })), ...added.map((file) => ({ file, isAdded: true }))]
}

function newSide(shape = ''): Side {
  return { surplus: new RowMultiset(), files: [], shape }
}

function shapeOf(side: SideFiles | null): string {
  return side === null ? '' : `${side.view.snapshot.tableId} ${side.view.snapshot.metadata.schemaString}`
}
