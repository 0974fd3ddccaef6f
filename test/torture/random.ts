/** Choices from a seed. */
import { createHash } from 'node:crypto'

export interface Random {
  /** A whole number from 0 to below the bound. */
  below(bound: number): number
  /** True with a probability of 0 to 1. */
  chance(probability: number): boolean
  oneOf<T>(values: readonly T[]): T
  bytes(count: number): Uint8Array
}

/** The same seed gives the same choices. */
export function randomOf(seed: string): Random {
  let block = Buffer.alloc(0)
  let counter = 0
  const bytes = (count: number): Uint8Array => {
    while (block.length < count) {
      const more = createHash('sha256').update(`${seed} ${counter++}`).digest()
      block = Buffer.concat([block, more])
    }
    const taken = block.subarray(0, count)
    block = block.subarray(count)
    return Uint8Array.from(taken)
  }
  const fraction = () => Buffer.from(bytes(4)).readUInt32BE(0) / 2 ** 32
  const below = (bound: number) => Math.floor(fraction() * bound)
  return { below, bytes, chance: (probability) => fraction() < probability, oneOf: (values) => values[below(values.length)] as (typeof values)[number] }
}
