/**
 * The histories that are compared, as data made from the seed. A history is a list of moves in one workspace, some made by
 * streamtop and some by Spark; beside it the same moves are all made by streamtop. Whenever both have come to rest they are compared.
 */
import { STEPS, type Step } from '../../src/engine/steps.js'
import { SEED, seeded } from './seeded.js'

export type Engine = 'streamtop' | 'Spark'

/** Where a run dies. Spark can die in its function before or after the write; streamtop at each step. */
export type Death = Step | 'before-write' | 'after-write'

export type Move =
  | { readonly kind: 'more' }
  /** Runs the query until it is caught up, or dies in its first batch. */
  | { readonly kind: 'run'; readonly by: Engine; readonly death: Death | null }

/** A way of writing. */
export interface Way {
  readonly title: string
  readonly query: string
  readonly spark: 'copy' | 'merge' | 'append'
  readonly where?: string
  readonly isIdempotent: boolean
}

export interface History {
  readonly title: string
  readonly way: Way
  /** The workspace that it begins with. */
  readonly base: string
  /** Options of the source, for both engines. */
  readonly sourceOptions: Readonly<Record<string, string>>
  readonly moves: readonly Move[]
}

export const PLAIN: Way = { title: '`events_copy`, plain append', query: 'events_copy', spark: 'copy', isIdempotent: false }
export const TAGGED: Way = { title: '`events_copy` with txnAppId, txnVersion', query: 'events_copy', spark: 'copy', isIdempotent: true }
export const MERGE: Way = { title: '`orders`, MERGE', query: 'orders', spark: 'merge', isIdempotent: true }
export const NATIVE: Way = { title: '`placed`, native sink', query: 'placed', spark: 'append', where: "status = 'placed'", isIdempotent: true }
const WAYS: readonly Way[] = [PLAIN, TAGGED, MERGE, NATIVE]

/** Bases of seeded orders; the two of the walk-through are called `walk-through` and `walk-through-plain`. */
export const SEEDED_BASES = ['orders-1', 'orders-2', 'orders-3', 'orders-4'] as const

/** The query that a configuration file adds to the three: a native sink over a table. */
export const CONFIG = `import { append, query, table } from 'streamtop'

export default [query('placed', table('bronze_orders').where((row) => row.status === 'placed'), append('placed'))]
`

/** After the walk-through: nothing is pending, both look; one more part, Spark dies after its write, streamtop takes over. */
const AFTER_WALK_THROUGH: readonly History[] = [
  walkThrough(PLAIN, 'walk-through-plain', []),
  walkThrough(TAGGED, 'walk-through', []),
  walkThrough(MERGE, 'walk-through', []),
  walkThrough(NATIVE, 'walk-through', [run('streamtop', null)]),
]

/** Killed at each step: Spark takes over; one more part, Spark dies, streamtop takes over. */
const AFTER_A_KILL: readonly History[] = WAYS.flatMap((way) =>
  STEPS.map((step): History => {
    const from = seeded(`killed/${way.title}/${step}`)
    const death = sparkDeath(from.chance(25), way)
    return {
      title: `killed at \`${step}\``,
      way,
      base: from.pick(SEEDED_BASES),
      sourceOptions: sourceOptions(from.chance(40)),
      moves: [run('streamtop', step), run('Spark', null), { kind: 'more' }, run('Spark', death), run('streamtop', null)],
    }
  }),
)

/** Any order of engines and deaths, three rounds each. */
const MIXED: readonly History[] = WAYS.flatMap((way) =>
  [1, 2].map((number): History => {
    const from = seeded(`mixed/${way.title}/${number}`)
    const round = (): Move[] => {
      const first = from.pick<Engine>(['Spark', 'streamtop'])
      if (from.chance(30)) return [run(first, null)]
      const death = first === 'Spark' ? sparkDeath(from.chance(40), way) : from.pick(STEPS)
      return [run(first, death), run(from.pick<Engine>(['Spark', 'streamtop']), null)]
    }
    const threeRounds = (): Move[] => [...round(), { kind: 'more' }, ...round(), { kind: 'more' }, ...round()]
    let moves = threeRounds()
    while (!moves.some((move) => move.kind === 'run' && move.by === 'Spark')) moves = threeRounds()
    return { title: `mixed, ${number}`, way, base: from.pick(SEEDED_BASES), sourceOptions: sourceOptions(from.chance(40)), moves }
  }),
)

export const HISTORIES: readonly History[] = [...AFTER_WALK_THROUGH, ...AFTER_A_KILL, ...MIXED]

/** How many times `history` is compared: after each run that came to its end with Spark having had a part. */
export function comparisonsOf(history: History): number {
  return history.moves.filter((move, at) => isCompared(history, at) && move.kind === 'run').length
}

/** Whether both workspaces are compared after a move. */
export function isCompared(history: History, at: number): boolean {
  const move = history.moves[at]
  return move?.kind === 'run' && move.death === null && history.moves.slice(0, at + 1).some((earlier) => earlier.kind === 'run' && earlier.by === 'Spark')
}

/** The moves as a reader follows them, up to one of them. */
export function describeMoves(moves: readonly Move[]): string {
  return moves
    .map((move) => {
      if (move.kind === 'more') return 'more rows'
      if (move.death === null) return `${move.by} runs`
      return `${move.by} dies ${move.death === 'before-write' || move.death === 'after-write' ? move.death.replace('-', ' its ') : `at ${move.death}`}`
    })
    .join(', ')
}

export function describeSeed(): string {
  return `seed ${SEED}`
}

function walkThrough(way: Way, base: string, first: readonly Move[]): History {
  return {
    title: 'after the walk-through',
    way,
    base,
    sourceOptions: {},
    moves: [...first, run('Spark', null), { kind: 'more' }, run('Spark', 'after-write'), run('streamtop', null)],
  }
}

function run(by: Engine, death: Death | null): Move {
  return { kind: 'run', by, death }
}

/** The native sink gives Spark no place to die before its write. */
function sparkDeath(isBefore: boolean, way: Way): Death {
  return isBefore && way.spark !== 'append' ? 'before-write' : 'after-write'
}

function sourceOptions(isSmall: boolean): Readonly<Record<string, string>> {
  return isSmall ? { maxFilesPerTrigger: '1' } : {}
}
