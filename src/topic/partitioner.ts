/**
 * Which partition a key belongs to: Kafka's default for records with a key, so that a key lands where a Kafka client would put
 * it. The hash is murmur2 with Kafka's seed (Kafka, `Utils.murmur2` and `BuiltInPartitioner.partitionForKey`).
 */

/** The partition, 0 to partitionCount - 1, of a record with this key. */
export function partitionOfKey(key: Uint8Array, partitionCount: number): number {
  return (murmur2(key) & 0x7fffffff) % partitionCount
}

/** Austin Appleby's MurmurHash2, 32 bits, as Kafka seeds it; signed, as in Java. */
export function murmur2(bytes: Uint8Array): number {
  const length = bytes.length
  const tail = length & ~3
  let hash = SEED ^ length
  for (let at = 0; at < tail; at += 4) {
    let word = byteAt(bytes, at) | (byteAt(bytes, at + 1) << 8) | (byteAt(bytes, at + 2) << 16) | (byteAt(bytes, at + 3) << 24)
    word = Math.imul(word, MULTIPLIER)
    word ^= word >>> 24
    hash = Math.imul(hash, MULTIPLIER) ^ Math.imul(word, MULTIPLIER)
  }
  if (tail < length) {
    let rest = 0
    for (let at = length - 1; at >= tail; at--) rest = (rest << 8) | byteAt(bytes, at)
    hash = Math.imul(hash ^ rest, MULTIPLIER)
  }
  hash ^= hash >>> 13
  hash = Math.imul(hash, MULTIPLIER)
  return hash ^ (hash >>> 15)
}

const SEED = 0x9747b28c
const MULTIPLIER = 0x5bd1e995

function byteAt(bytes: Uint8Array, at: number): number {
  return bytes[at] as number
}
