/** Random numbers that can be had again: the seed is printed by a failing test and read from STREAMTOP_SEED. */

export interface SeededRandom {
  readonly seed: number
  /** A whole number from 0 to below the limit. */
  readonly next: (limit: number) => number
  readonly byte: () => number
}

/** mulberry32: 32 bits of state, enough to choose keys. */
export function seededRandom(seed = Number(process.env['STREAMTOP_SEED'] ?? Date.now() % 2 ** 31)): SeededRandom {
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
