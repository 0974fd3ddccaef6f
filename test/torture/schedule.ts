/** A schedule: what is done to a workspace, drawn from a seed before anything is done. */
import { STEPS, type Step } from '../../src/engine/steps.js'
import { randomOf } from './random.js'

/** Where a life is killed: at a step, or before the n-th call that changes a file. */
export type Kill = { readonly step: Step; readonly occurrence: number } | { readonly call: number }

export type Act =
  /** Records that arrive: orders, some of them late, and records that are none. */
  | { readonly kind: 'send'; readonly good: number; readonly bad: number }
  | {
      readonly kind: 'run'
      /** Which query, or `again`: the one that ran last. */
      readonly query: number | 'again'
      /** Whether records arrive first, and bronze takes them, although there may be something to do without them. */
      readonly isFed: boolean
      readonly toggle: boolean
      /** `maxOffsetsPerTrigger` or `maxFilesPerTrigger`; null for no limit. */
      readonly maxPerTrigger: number | null
      readonly kill: Kill | null
      /** A reader looks before these calls. */
      readonly looks: readonly number[]
      /** A checksum of an earlier file lies where the next one will. */
      readonly staleChecksum: boolean
    }
  /** While a life of a query is held, another one is started, and a vacuum runs. */
  | { readonly kind: 'rival'; readonly query: number }
  /** Small files of a table are put together. */
  | { readonly kind: 'optimize'; readonly table: number; readonly kill: Kill | null; readonly looks: readonly number[] }
  /** Files that a table does not need are removed. */
  | { readonly kind: 'vacuum'; readonly table: number; readonly kill: Kill | null; readonly looks: readonly number[] }
  /** The newest commit is taken away. */
  | { readonly kind: 'replay'; readonly query: number; readonly kill: Kill | null }
  /** The checkpoint and the tables are taken away. */
  | { readonly kind: 'reset'; readonly query: number; readonly kill: Kill | null }

export interface Schedule {
  readonly seed: number
  readonly number: number
  readonly partitions: number
  /** The queries that it has, by their places in `torturedQueries`: bronze first, then some of those that read it. */
  readonly queries: readonly number[]
  /** By query: whether idempotence is always on, always off, or changes. */
  readonly idempotence: readonly ('on' | 'off' | 'changing')[]
  /** How many kills end it. */
  readonly kills: number
}

export const ACTS_MAX = 60

const READERS_OF_BRONZE = 4
const QUERY_COUNT = 3

export function scheduleOf(seed: number, number: number): Schedule {
  const random = randomOf(`schedule ${seed} ${number}`)
  const readers = Array.from({ length: READERS_OF_BRONZE }, (_, index) => index + 1)
  while (readers.length >= QUERY_COUNT) readers.splice(random.below(readers.length), 1)
  return {
    seed,
    number,
    partitions: random.oneOf([1, 1, 2, 3]),
    queries: [0, ...readers],
    idempotence: Array.from({ length: QUERY_COUNT }, () => random.oneOf(['on', 'on', 'on', 'changing', 'off'] as const)),
    kills: 3 + Math.min(random.below(8), random.below(8)),
  }
}

/** The n-th act, drawn on its own, so that leaving others out does not change it. */
export function actOf(schedule: Schedule, index: number): Act {
  const random = randomOf(`act ${schedule.seed} ${schedule.number} ${index}`)
  const choice = random.below(100)
  const kill = (probability: number): Kill | null => {
    if (!random.chance(probability)) return null
    if (random.chance(0.4)) return { step: random.oneOf(STEPS), occurrence: random.oneOf([1, 1, 1, 2]) }
    return { call: 1 + random.below(random.oneOf([10, 25, 45])) }
  }
  if (index === 0 || choice < 16) return { kind: 'send', good: 1 + random.below(4), bad: random.chance(0.3) ? 1 + random.below(2) : 0 }
  if (choice < 21) return { kind: 'replay', query: random.below(QUERY_COUNT), kill: random.chance(0.2) ? { call: 1 + random.below(3) } : null }
  if (choice < 24) return { kind: 'reset', query: 1 + random.below(QUERY_COUNT - 1), kill: random.chance(0.5) ? { call: 1 + random.below(12) } : null }
  if (choice < 27) return { kind: 'rival', query: random.below(QUERY_COUNT) }
  if (choice < 35) {
    const calls = { kill: random.chance(0.6) ? { call: 1 + random.below(14) } : null, looks: random.chance(0.5) ? [1 + random.below(12)] : [] }
    return { kind: choice < 31 ? 'optimize' : 'vacuum', table: random.below(6), ...calls }
  }
  return {
    kind: 'run',
    query: random.chance(0.4) ? 'again' : random.chance(0.35) ? 0 : random.below(QUERY_COUNT),
    isFed: random.chance(0.3),
    toggle: random.chance(0.5),
    maxPerTrigger: random.chance(0.6) ? 1 + random.below(3) : null,
    kill: kill(0.8),
    looks: random.chance(0.5) ? [1 + random.below(12), 1 + random.below(30), 1 + random.below(60)] : [],
    staleChecksum: random.chance(0.1),
  }
}
