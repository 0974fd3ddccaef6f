/** Whether the recorder of power losses (test/power-loss) takes for synced what a process really syncs, in the same order. */
import type { Recording } from '../power-loss/disk.js'
import type { SystemCall } from './strace.js'

/** What was synced, in order, as strace saw it. */
export function syncsSeen(calls: readonly SystemCall[]): string[] {
  return calls.filter(({ name }) => name === 'fsync').flatMap(({ path }) => comparable(path))
}

/** The same as it was recorded. */
export function syncsRecorded({ effects }: Recording): string[] {
  return effects.flatMap((effect) => (effect.kind === 'sync' ? comparable(effect.what.replace(/^sync (the workspace)?/, '')) : []))
}

/** Without what is random in a name, and without locks and journals, of whose syncs the recorder takes none for granted. */
function comparable(path: string): string[] {
  if (path.startsWith('.locks') || path.endsWith('-journal')) return []
  const name = path.replace(/[0-9a-f]{8}-[0-9a-f-]{27}/g, 'UUID').replace(/\d+-\w+(?=(-UUID)?\.)/g, 'PROCESS')
  return [name.replace(/UUID|PROCESS/g, '*')]
}
