/** Which disks a loss of power may leave of what was done: after each effect, with at most two unsynced ones lost, or all of them. */
import { type Disk, diskAfter, type Effect, type Loss, type Losses, lossesOf, type Recording, unsyncedAt } from './disk.js'

/** A moment at which the power goes, and what is lost. */
export interface PowerLoss {
  /** So many effects were begun. */
  readonly count: number
  readonly losses: Losses
}

/**
 * Every loss of power that leaves another disk, or comes after another word; those that lose nothing, one effect or all come first.
 * @param from the first moment, as a count of effects
 */
export function powerLosses(recording: Recording, from = 0): PowerLoss[] {
  const known = new Set<string>()
  const [few, pairs]: [PowerLoss[], PowerLoss[]] = [[], []]
  const add = (into: PowerLoss[], count: number, losses: Losses) => {
    const key = keyOf(recording.effects, count, losses)
    if (known.has(key)) return
    known.add(key)
    into.push({ count, losses })
  }
  for (let count = from; count <= recording.effects.length; count++) {
    const unsynced = unsyncedAt(recording, count)
    add(few, count, new Map())
    add(few, count, new Map(unsynced.map((index) => [index, 'all'])))
    const single = unsynced.flatMap((index) => lossesOf(recording.effects[index] as Effect).map((loss) => [index, loss] as [number, Loss]))
    for (const one of single) add(few, count, new Map([one]))
    for (const [place, one] of single.entries()) {
      for (const other of single.slice(place + 1)) if (other[0] !== one[0]) add(pairs, count, new Map([one, other]))
    }
  }
  return [...few, ...pairs]
}

/** The disk that is left. */
export function diskLeft(recording: Recording, { count, losses }: PowerLoss): Disk {
  return diskAfter(recording, count, losses)
}

/** What was said to be there for good before the power went, by path; the newest word counts. */
export function toldBefore({ effects }: Recording, count: number): ReadonlyMap<string, string> {
  const told = new Map<string, string>()
  for (const effect of effects.slice(0, count)) if (effect.kind === 'told') for (const [path, content] of effect.files) told.set(path, content)
  return told
}

/** A sentence. */
export function describeLoss({ effects }: Recording, { count, losses }: PowerLoss): string {
  const lost = [...losses].map(([index, loss]) => `${loss === 'all' ? '' : `the ${loss} of `}"${effects[index]?.what}" (${index})`)
  const last = effects[count - 1]
  return `power lost after effect ${count} (${last ? `${last.kind === 'told' ? 'told ' : ''}${last.what}` : 'nothing'}), without ${lost.length > 0 ? lost.join(', ') : 'losing anything'}`
}

/** Of losses that leave the same effects on disk the key is the same, and of those who were told the same. */
function keyOf(effects: readonly Effect[], count: number, losses: Losses): string {
  const changes: string[] = []
  let told = 0
  for (let index = 0; index < count; index++) {
    const kind = effects[index]?.kind
    if (kind === 'told') told = index
    else if (kind !== 'sync') {
      const loss = losses.get(index)
      if (loss !== 'all') changes.push(loss === undefined ? String(index) : `${index}${loss}`)
    }
  }
  return `${changes.join()} ${told}`
}
