/** Random numbers that can be had again: a failing test prints the seed. */
import { SEED } from '../seed.js'

export interface SeededRandom {
  readonly seed: number
  /** A whole number from 0 to below the limit. */
  readonly next: (limit: number) => number
  readonly byte: () => number
}

/** mulberry32: 32 bits of state, enough to choose keys. */
export function seededRandom(seed = SEED): SeededRandom {
  let state = seed
  const bits = () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return (mixed ^ (mixed >>> 14)) >>> 0
  }
  const next = (limit: number) => bits() % limit
  return { seed, next, byte: () => next(256) }
}
