/** Losses of power by the hundred: which of the many are tried, and what came of them. What the harness and the planted bugs call. */
import { SEED } from '../seed.js'
import { seededRandom, type SeededRandom } from '../tui/seeded-random.js'
import type { WayOfWriting } from './batches.js'
import { type Recording, unsyncedAt } from './disk.js'
import { type PowerLoss, powerLosses } from './legal-disks.js'
import { recordBatches, recordRestart, startAgain } from './lose-power.js'
import { recordSends, recordSendsAfterDeath, sendAgain } from './lose-power-in-sends.js'
import { restartLosses } from './restart-losses.js'

export interface PowerLossRun {
  readonly tried: number
  /** How many there are to choose from. */
  readonly legal: number
  /** Sentences, each with the loss that it came of. */
  readonly violations: readonly string[]
}

/** After so many violations nothing new is to be learnt. */
const ENOUGH_VIOLATIONS = 5

/**
 * Power lost in the two batches of a way of writing, three of four cases among the losses of nothing, of one effect and of all.
 * @param most how many cases are tried
 */
export async function losePowerInBatches(way: WayOfWriting, most: number, random = seededRandom(SEED)): Promise<PowerLossRun> {
  const recording = await recordBatches(way)
  const all = powerLosses(recording)
  const isPair = ({ losses }: PowerLoss) => losses.size === 2
  const pairs = drawn(all.filter(isPair), Math.ceil(most / 4), random)
  const others = drawn(
    all.filter((loss) => !isPair(loss)),
    most - pairs.length,
    random,
  )
  const cases = [...others, ...pairs].map((loss) => ({ recording, loss }))
  return tryAll((one) => startAgain(way, one.recording, one.loss), cases, all.length)
}

/** Power lost after a process was killed between two effects, and another one has gone on. */
export async function losePowerAfterDeaths(way: WayOfWriting, most: number, random = seededRandom(SEED)): Promise<PowerLossRun> {
  const recording = await recordBatches(way)
  // A death that leaves nothing unsynced is no other than the loss of power then.
  const deaths = recording.effects.map((_, index) => index + 1).filter((count) => lastUnsynced(recording, count) === count - 1)
  const cases: Case[] = []
  for (const count of drawn(deaths, Math.ceil(most / LOSSES_OF_A_DEATH), random)) {
    const restart = await recordRestart(way, recording, count)
    const losses = restartLosses(restart, count).filter(({ losses: lost }) => lost.size > 1 || lost.has(count - 1))
    cases.push(...drawn(losses, LOSSES_OF_A_DEATH, random).map((loss) => ({ recording: restart, loss })))
  }
  return tryAll((one) => startAgain(way, one.recording, one.loss), cases, deaths.length * LOSSES_OF_A_DEATH)
}

/** Power lost while records are sent to the embedded topic; half of the cases after a producer was killed and another has gone on. */
export async function losePowerInSends(most: number, random = seededRandom(SEED)): Promise<PowerLossRun> {
  const recording = await recordSends()
  const all = powerLosses(recording).map((loss) => ({ recording, loss }))
  const afterDeaths: Case[] = []
  for (let count = 1; count < recording.effects.length; count++) {
    if (lastUnsynced(recording, count) !== count - 1) continue
    const restart = await recordSendsAfterDeath(recording, count)
    afterDeaths.push(...restartLosses(restart, count).map((loss) => ({ recording: restart, loss })))
  }
  const cases = [...drawn(all, Math.ceil(most / 2), random), ...drawn(afterDeaths, Math.floor(most / 2), random)]
  return tryAll((one) => sendAgain(one.recording, one.loss), cases, all.length + afterDeaths.length)
}

interface Case {
  readonly recording: Recording
  readonly loss: PowerLoss
}

const LOSSES_OF_A_DEATH = 2

function lastUnsynced(recording: Recording, count: number): number | undefined {
  return unsyncedAt(recording, count).at(-1)
}

/** A sync of a batch that the model is told to leave out, and whether a loss of power showed it. */
export interface LeftOutSync {
  readonly sync: string
  readonly isMissed: boolean
}

/** Leaves out each sync of the second of three batches in turn, and loses what it would have kept. */
export async function leaveOutEachSync(way: WayOfWriting): Promise<LeftOutSync[]> {
  const recording = await recordBatches(way)
  const { effects } = recording
  const ends = effects.flatMap(({ kind, what }, index) => (kind === 'told' && what.startsWith('batch-committed') ? [index] : []))
  const [from = 0, to = 0] = ends
  const found: LeftOutSync[] = []
  for (const [index, effect] of effects.entries()) {
    if (effect.kind !== 'sync' || index < from || index > to) continue
    const without: Recording = { ...recording, effects: effects.map((one, at) => (at === index ? { kind: 'told', what: 'nothing', files: new Map() } : one)) }
    found.push({ sync: effect.what.replace(/[0-9a-f]{8}-[0-9a-f-]{27}\S*?(?=\.)/, 'UUID'), isMissed: await isMissed(way, recording, without, index) })
  }
  return found
}

async function isMissed(way: WayOfWriting, recording: Recording, without: Recording, index: number): Promise<boolean> {
  for (let count = index + 1; count <= recording.effects.length; count++) {
    const kind = recording.effects[count - 1]?.kind
    if (count < recording.effects.length && kind !== 'told' && kind !== 'entries') continue
    const before = new Set(unsyncedAt(recording, count))
    const exposed = unsyncedAt(without, count).filter((one) => !before.has(one))
    if (exposed.length === 0) continue
    for (const lost of [exposed, ...exposed.map((one) => [one])]) {
      const wrong = await startAgain(way, without, { count, losses: new Map(lost.map((one) => [one, 'all'])) })
      if (wrong.length > 0) return true
    }
  }
  return false
}

async function tryAll(attempt: (one: Case) => Promise<string[]>, cases: readonly Case[], legal: number): Promise<PowerLossRun> {
  const violations: string[] = []
  let tried = 0
  for (const one of cases) {
    if (violations.length >= ENOUGH_VIOLATIONS) break
    tried += 1
    violations.push(...(await attempt(one)))
  }
  return { tried, legal, violations }
}

/** Some of them, in the order in which they were drawn. */
function drawn<T>(from: readonly T[], most: number, { next }: SeededRandom): T[] {
  const left = [...from]
  const some: T[] = []
  while (some.length < most && left.length > 0) some.push(...left.splice(next(left.length), 1))
  return some
}
