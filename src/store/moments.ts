/** The moments inside a write to a table. The store knows no batches; whoever writes may listen. */

/**
 * In this order: half of a data file is there; all data files; the version file; the version in the SQLite log. A commit over several
 * tables has each of them once, told with the first of its writes: all data files, all version files, all versions.
 */
export type CommitMoment = 'mid-write' | 'files-written' | 'version-linked' | 'table-committed'

export type WriteKind = 'append' | 'merge' | 'create' | 'optimize'

export interface MomentDetails {
  readonly table: string
  readonly kind: WriteKind
  /** Of `table-committed`. */
  readonly outcome?: 'committed' | 'already-committed' | 'unchanged'
  /** Of `mid-write`: syncs the half that is there. */
  readonly syncHalf?: () => void
}

/** Called at each moment; the write goes on when it resolves. */
export type OnMoment = (moment: CommitMoment, details: MomentDetails) => Promise<void>

export const nobodyListens: OnMoment = async () => {}
