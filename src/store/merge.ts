/**
 * MERGE, decided on rows in memory with Delta's rules (DESIGN §5; MergeIntoCommand): which target rows a batch of source rows updates or
 * deletes, which source rows it inserts, and the files that have to be written again for it. A file none of whose rows changes is not
 * among them; a MERGE that changes nothing says so. No file is read or written here.
 */
import { StreamtopError } from '../errors.js'
import { type Columns, emptyColumns, projectColumns, takeRows } from './columns.js'
import { indexByKey, type KeyIndex, matchRows } from './key-index.js'
import { bindMatched, bindNotMatched } from './merge-conditions.js'
import { clausesOf, type MergeClauses, type MergeSpec } from './merge-spec.js'
import { DELETED_ROW, pickRows } from './pick-rows.js'
import { columnIndex, type Schema } from './schema.js'
import { valueAt } from './values.js'
import { vectorNamed } from './vector-named.js'

export interface MergeInput<File> {
  /** The files that may hold a matching row, in the table's order. */
  readonly target: Iterable<MergeFile<File>>
  readonly source: Columns
  readonly spec: MergeSpec
  /** The target's. */
  readonly schema: Schema
}

export interface MergeFile<File> {
  readonly file: File
  readonly columns: Columns
}

export interface MergeCounts {
  readonly sourceRows: number
  readonly inserted: number
  readonly updated: number
  readonly deleted: number
  /** Rows written again as they were, because their file was touched. */
  readonly copied: number
}

export type MergePlan<File> =
  | {
      readonly kind: 'changed'
      /** Touched files with the rows they hold afterwards, in their old order; none when all were deleted. */
      readonly rewritten: readonly MergeFile<File>[]
      /** New rows in source order, or null. */
      readonly inserted: Columns | null
      readonly counts: MergeCounts
    }
  | { readonly kind: 'unchanged'; readonly counts: MergeCounts }

/**
 * Plans a whole MERGE. Errors: `merge-ambiguous` when two source rows match one target row, `schema-mismatch` when a column that is
 * needed is missing in the source or has another type there, `usage` for clauses that make no sense; what a condition throws passes through.
 */
export function planMerge<File>(input: MergeInput<File>): MergePlan<File> {
  const merge = new Merge(input.source, input.spec, input.schema)
  const rewritten: MergeFile<File>[] = []
  for (const { file, columns } of input.target) {
    const changed = merge.mergeFile(columns)
    if (changed !== null) rewritten.push({ file, columns: changed })
  }
  const inserted = merge.insertedRows()
  if (rewritten.length === 0 && inserted === null) return { kind: 'unchanged', counts: merge.counts }
  return { kind: 'changed', rewritten, inserted, counts: merge.counts }
}

/** A MERGE file by file, so that only one file's rows need be in memory: `mergeFile` for each candidate, then `insertedRows`. */
export class Merge {
  readonly #source: Columns
  readonly #schema: Schema
  readonly #clauses: MergeClauses
  readonly #index: KeyIndex
  /** The source with the target's columns; null when no clause writes a row. */
  readonly #written: Columns | null
  readonly #refusesSeveral: boolean
  /** By the first source row of a key: 1 when a target row has the key. */
  readonly #found: Uint8Array
  readonly #counts = { inserted: 0, updated: 0, deleted: 0, copied: 0 }

  constructor(source: Columns, spec: MergeSpec, schema: Schema) {
    this.#source = source
    this.#schema = schema
    this.#clauses = clausesOf(spec)
    const { on, matched, notMatched } = this.#clauses
    const writes = notMatched.length > 0 || matched.some((clause) => clause.action === 'update')
    this.#written = writes ? underTarget(source, schema) : null
    this.#index = indexByKey(source, on)
    const onlyDeletes = matched.length === 1 && matched[0]?.action === 'delete' && matched[0].when === null
    this.#refusesSeveral = matched.length > 0 && !onlyDeletes
    this.#found = new Uint8Array(source.rowCount)
    // A column that is missing or of another type is found on no rows at all, before files are left out because of what it says.
    this.mergeFile(emptyColumns(schema))
  }

  /** The index of the source's keys, to leave out files by. */
  get keys(): KeyIndex {
    return this.#index
  }

  get counts(): MergeCounts {
    return { sourceRows: this.#source.rowCount, ...this.#counts }
  }

  /**
   * The rows of a file after the MERGE, or null when it stays as it is. An insert-only MERGE looks at the key columns alone, so the others
   * may be missing then.
   */
  mergeFile(target: Columns): Columns | null {
    const { on, matched } = this.#clauses
    const sourceRows = matchRows(this.#index, target, on)
    const decide = bindMatched(matched, this.#source, target)
    let picks: Int32Array | null = null
    let updated = 0
    let deleted = 0
    for (let row = 0; row < target.rowCount; row++) {
      const sourceRow = sourceRows[row] as number
      if (sourceRow < 0) continue
      this.#found[sourceRow] = 1
      if (this.#refusesSeveral && (this.#index.nextRows[sourceRow] as number) >= 0) throw this.#ambiguous(sourceRow)
      const action = decide(sourceRow, row)
      if (action === null) continue
      picks ??= everyRow(target.rowCount)
      if (action === 'update') {
        picks[row] = target.rowCount + sourceRow
        updated++
      } else {
        picks[row] = DELETED_ROW
        deleted++
      }
    }
    if (picks === null) return null
    this.#counts.updated += updated
    this.#counts.deleted += deleted
    this.#counts.copied += target.rowCount - updated - deleted
    return pickRows(projectColumns(target, this.#schema), this.#written, picks)
  }

  /** The rows to insert, in source order, or null when there are none. Call it once, after the last file. */
  insertedRows(): Columns | null {
    if (this.#written === null || this.#clauses.notMatched.length === 0) return null
    const inserts = bindNotMatched(this.#clauses.notMatched, this.#source)
    const hasMatch = this.#rowsWithMatch()
    const rows = new Int32Array(this.#source.rowCount)
    let count = 0
    for (let row = 0; row < rows.length; row++) if (hasMatch[row] === 0 && inserts(row)) rows[count++] = row
    this.#counts.inserted = count
    if (count === 0) return null
    return count === this.#source.rowCount ? this.#written : takeRows(this.#written, rows.subarray(0, count))
  }

  /** `found` spread from the first row of each key to all of them. */
  #rowsWithMatch(): Uint8Array {
    const { firstRows, nextRows } = this.#index
    const marks = this.#found.slice()
    for (const first of firstRows) {
      if (marks[first] === 0) continue
      for (let row = nextRows[first] as number; row >= 0; row = nextRows[row] as number) marks[row] = 1
    }
    return marks
  }

  #ambiguous(sourceRow: number): StreamtopError {
    const key = this.#clauses.on.map((name) => `${name} ${String(valueAt(vectorNamed(this.#source, name), sourceRow))}`).join(', ')
    return new StreamtopError(
      'merge-ambiguous',
      `several rows of the source have ${key}, and a row of the table matches them all: which of them acts is not defined`,
      {
        hint: 'keep one row of each key in the batch, for example the newest, before merging it',
        condition: 'DELTA_MULTIPLE_SOURCE_ROW_MATCHING_TARGET_ROW_IN_MERGE',
      },
    )
  }
}

/** The source as `UPDATE SET *` and `INSERT *` take it: all columns of the target, by name in any case; what is more is left out. */
function underTarget(source: Columns, schema: Schema): Columns {
  const missing = schema.columns.find(({ name }) => columnIndex(source.schema, name) < 0)
  if (missing === undefined) return projectColumns(source, schema)
  throw new StreamtopError('schema-mismatch', `the rows to merge have no column ${missing.name}, and update and insert write all columns of the table`, {
    hint: `give every row a ${missing.name}, or write null into it`,
    condition: 'DELTA_MERGE_UNRESOLVED_EXPRESSION',
  })
}

function everyRow(rowCount: number): Int32Array {
  const rows = new Int32Array(rowCount)
  for (let row = 0; row < rowCount; row++) rows[row] = row
  return rows
}
