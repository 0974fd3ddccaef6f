/** What stdout says when an asked-for kill has happened: the tutorial's own words where it has some. */
import type { Step, StepEvent } from '../engine/steps.js'

export function deathSentence(at: StepEvent): string {
  return `the stream failed: stopped ${at.step === 'table-committed' && at.kind === 'merge' ? 'after merging' : WHERE[at.step](at.batchId)}`
}

const WHERE: Readonly<Record<Step, (batchId: number) => string>> = {
  planned: (batchId) => `after planning batch ${batchId}, before its offsets were logged`,
  'offsets-logged': (batchId) => `after logging the offsets of batch ${batchId}, before it was read`,
  'rows-read': (batchId) => `after reading batch ${batchId}, before it was written`,
  'mid-write': (batchId) => `in the middle of writing batch ${batchId}`,
  'files-written': (batchId) => `after writing the files of batch ${batchId}, before a version named them`,
  'version-linked': (batchId) => `after linking the version of batch ${batchId}, before the log had it`,
  'table-committed': (batchId) => `after writing batch ${batchId}, before it was committed`,
  'batch-committed': (batchId) => `after committing batch ${batchId}`,
}
