/**
 * What a history must have left of Spark, told by its moves alone: which versions of the query's table it wrote, each with its batch,
 * and which batches it committed. The checker is told so beforehand, and finds out what is otherwise.
 */
import type { OtherEngine } from '../checker.mjs'
import { type History, MERGE, type Move, PLAIN } from './histories.js'

/** A query's table and checkpoint as a history finds them; every batch is committed. */
export interface Begun {
  /** Versions of the source, each of one file. */
  readonly files: number
  readonly versions: number
  readonly batches: number
}

type Run = Extract<Move, { kind: 'run' }>

export class ToldByMoves {
  readonly #versions = new Map<number, number | null>()
  readonly #commits = new Set<number>()
  #files: number
  #takenFiles: number
  #versionCount: number
  /** Batches that are logged, and how many of them are committed: all, or all but the newest. */
  #logged: number
  #committed: number
  /** Whether the table has the newest batch. */
  #isWritten = true

  constructor(
    private readonly history: History,
    { files, versions, batches }: Begun,
  ) {
    this.#files = files
    this.#takenFiles = batches > 0 ? files : 0
    this.#versionCount = versions
    this.#logged = batches
    this.#committed = batches
  }

  /** What Spark did so far. */
  get ofSpark(): OtherEngine {
    return { versions: this.#versions, commits: [...this.#commits] }
  }

  make(move: Move): void {
    if (move.kind === 'more') {
      this.#files++
      return
    }
    const before = this.#committed
    if (this.history.way === MERGE && move.by === 'Spark' && this.#versionCount === 0) this.#addVersion(move, null)
    for (let isAlive = true; isAlive && this.#hasWork(); ) isAlive = this.#runBatch(move)
    // The native sink of Spark has no place to die in: it loses its newest commit.
    if (this.history.way.spark === 'append' && move.death === 'after-write' && this.#committed > before) this.#commits.delete(--this.#committed)
  }

  #hasWork(): boolean {
    return this.#logged > this.#committed || this.#takenFiles < this.#files
  }

  /** Runs the pending batch again, or the next one. @returns false when the run died in it */
  #runBatch(run: Run): boolean {
    const { way, sourceOptions } = this.history
    if (run.death === 'planned') return false
    if (this.#logged === this.#committed) {
      this.#takenFiles = sourceOptions['maxFilesPerTrigger'] ? this.#takenFiles + 1 : this.#files
      this.#logged++
      this.#isWritten = false
    }
    if (diesAt(run, 'offsets-logged', 'rows-read', 'before-write')) return false
    if (way === MERGE && this.#versionCount === 0) this.#addVersion(run, null)
    if (diesAt(run, 'mid-write', 'files-written')) return false
    // A plain append writes again what is there; of a MERGE that changes nothing only Spark makes a version.
    if (!this.#isWritten || way === PLAIN || (way === MERGE && run.by === 'Spark')) this.#addVersion(run, this.#logged - 1)
    this.#isWritten = true
    if (diesAt(run, 'version-linked', 'table-committed')) return false
    if (run.death === 'after-write' && way.spark !== 'append') return false
    if (run.by === 'Spark') this.#commits.add(this.#committed)
    this.#committed++
    return run.death !== 'batch-committed'
  }

  #addVersion({ by }: Run, batch: number | null): void {
    if (by === 'Spark') this.#versions.set(this.#versionCount, batch)
    this.#versionCount++
  }
}

function diesAt({ death }: Run, ...places: readonly Run['death'][]): boolean {
  return death !== null && places.includes(death)
}
