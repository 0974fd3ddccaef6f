/** Choices that a seed decides: the same seed and name give the same ones on every machine. */
import { createHash } from 'node:crypto'

export const DEFAULT_SEED = '20261001'

/** `STREAMTOP_SEED`, or the one that the page is written with. */
export const SEED = process.env['STREAMTOP_SEED'] || DEFAULT_SEED

export interface Seeded {
  /** A whole number from `least` to `most`, both included. */
  whole(least: number, most: number): number
  /** True in so many of a hundred cases. */
  chance(percent: number): boolean
  pick<T>(from: readonly T[]): T
}

/** Choices for one purpose, which is named so that those for another one do not change with it. */
export function seeded(purpose: string): Seeded {
  let drawn = 0
  const draw = (): number => {
    const bytes = createHash('sha256').update(`${SEED}/${purpose}/${drawn++}`).digest()
    return bytes.readUIntBE(0, 6)
  }
  const whole = (least: number, most: number): number => least + (draw() % (most - least + 1))
  return {
    whole,
    chance: (percent) => whole(1, 100) <= percent,
    pick: (from) => {
      const picked = from[whole(0, from.length - 1)]
      if (picked === undefined) throw new Error('nothing to pick from')
      return picked
    },
  }
}
