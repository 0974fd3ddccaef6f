/** Which losses of power, in the life that followed a death, show whether that life has seen to what the dead one left unsynced. */
import { type Recording, unsyncedAt } from './disk.js'
import type { PowerLoss } from './legal-disks.js'

/**
 * Of what the dead life left unsynced: all of it, and each alone, lost whenever the living one has told something, and at its end.
 * @param count how many effects the dead life had done
 */
export function restartLosses(recording: Recording, count: number): PowerLoss[] {
  const { effects } = recording
  const moments = effects.flatMap((effect, index) => (index >= count && effect.kind === 'told' ? [index + 1] : []))
  return [...moments, effects.length].flatMap((moment) => {
    const inherited = unsyncedAt(recording, moment).filter((index) => index < count)
    const choices = inherited.length > 1 ? [inherited, ...inherited.map((index) => [index])] : inherited.map((index) => [index])
    return choices.map((lost) => ({ count: moment, losses: new Map(lost.map((index) => [index, 'all' as const])) }))
  })
}
