/** What lies on disk of a batch when it has reached a step: what a death there leaves. */
import type { Step } from '../engine/steps.js'

/** Each as it stands behind `it leaves`. */
export const LEFT_AT: Readonly<Record<Step, string>> = {
  planned: 'nothing of the batch',
  'offsets-logged': 'its range in the checkpoint, and no rows',
  'rows-read': 'its range in the checkpoint, and no rows, for they are only in memory',
  'mid-write': 'half of a data file, which no version names',
  'files-written': 'whole data files, which no version names',
  'version-linked': 'a version in the Delta log that the SQLite log and the checkpoint do not have',
  'table-committed': 'rows in the table that the checkpoint does not know of',
  'batch-committed': 'everything: table and checkpoint agree',
}

const SEVERAL: ReadonlySet<Step> = new Set(['files-written', 'table-committed'])

/**
 * As `thereIs`, of a batch that runs again: its range stays, and so do the rows that it wrote before.
 * @param writtenBy the attempt that wrote them; null when none did
 */
export function thereIsAgain(step: Step, writtenBy: number | null): string {
  if (writtenBy === null || AFTER_WRITE.has(step)) return thereIs(step === 'planned' ? 'offsets-logged' : step)
  const rows = `the table has the rows of attempt ${writtenBy}`
  return WHILE_WRITING.has(step) ? `${thereIs(step)}, and ${rows}` : `there is its range in the checkpoint, and ${rows}`
}

const WHILE_WRITING: ReadonlySet<Step> = new Set(['mid-write', 'files-written'])
const AFTER_WRITE: ReadonlySet<Step> = new Set(['version-linked', 'table-committed', 'batch-committed'])

/** `there are rows in the table …`: as it stands behind `on disk`. */
export function thereIs(step: Step): string {
  return `there ${SEVERAL.has(step) ? 'are' : 'is'} ${LEFT_AT[step]}`
}
