/** The whole matrix: every death in a folder of its own, several at a time. */
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Effects } from '../effects.js'
import { processRunner } from '../engine/process-runner.js'
import { BUILT_IN_QUERIES } from '../queries/built-in.js'
import { type Death, stepText } from './deaths.js'
import { type Judged, judgeDeath } from './judgement.js'
import matrixQueries from './matrix-queries.js'
import type { OrdersTopic } from './orders-topic.js'
import { playDeath } from './play-death.js'

export interface MatrixChoices {
  readonly deaths: readonly Death[]
  /** Where the workspaces are made. */
  readonly folder: string
  readonly topic: OrdersTopic
  /** Leave every workspace; else only those of deaths that are not right are left. */
  readonly isKept: boolean
  /** Told before each death how many are done. */
  readonly onProgress: (done: number, next: Death) => void
  /** Ends it at once: what runs is killed. */
  readonly signal: AbortSignal
}

export type PlayedDeath = Judged & {
  /** Its folder, when it is left. */
  readonly workspace: string | null
}

/** More than this at a time wait for one another on the disk. */
const MOST_AT_A_TIME = 8

/**
 * @returns the deaths in the order in which they were given
 * @throws an AbortError when the signal fires
 */
export async function playMatrix(choices: MatrixChoices, fx: Effects): Promise<PlayedDeath[]> {
  const { deaths, topic, signal } = choices
  const configFile = fileURLToPath(new URL('./matrix-queries.js', import.meta.url))
  const kafka = { kafka: topic.onKafka?.choice ?? null, topic: topic.onKafka?.name ?? null }
  // A process that is given a file of queries does more at its start, so only those have it that need it.
  const [builtIn, own] = [processRunner(kafka, fx), processRunner({ ...kafka, configFile }, fx)]
  const queries = [...BUILT_IN_QUERIES, ...matrixQueries]
  const played: PlayedDeath[] = []
  let [begun, done] = [0, 0]
  const worker = async () => {
    for (let index = begun++; index < deaths.length; index = begun++) {
      const death = deaths[index] as Death
      signal.throwIfAborted()
      choices.onProgress(done, death)
      const runner = death.way.tables.length > 1 ? own : builtIn
      const workspace = join(choices.folder, `${death.way.name}-${stepText(death).replace(':', '-')}`)
      const judged = judgeDeath(await playDeath(death, workspace, { queries, topic, runner, signal }, fx))
      const isLeft = choices.isKept || judged.problem !== null
      if (!isLeft) fx.files.removeFolder(workspace)
      played[index] = { ...judged, workspace: isLeft && fx.files.exists(workspace) ? workspace : null }
      done += 1
    }
  }
  const ends = await Promise.allSettled(Array.from({ length: Math.min(availableParallelism() + 1, MOST_AT_A_TIME) }, worker))
  for (const end of ends) if (end.status === 'rejected') throw end.reason
  return played
}
