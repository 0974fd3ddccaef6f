import fc from 'fast-check'
import { expect, test } from 'vitest'
import { murmur2, partitionOfKey } from '../../src/topic/partitioner.js'

test.each([
  ['21', -973932308],
  ['foobar', -790332482],
  ['a-little-bit-long-string', -985981536],
  ['a-little-bit-longer-string', -1486304829],
  ['lkjh234lh9fiuh90y23oiuhsafujhadof229phr9h19h89h8', -58897971],
  ['abc', 479470107],
])("Kafka's own vector: %s", (text, hash) => {
  expect(murmur2(Buffer.from(text))).toBe(hash)
})

test('a negative hash loses its sign bit, as in Kafka, and is not negated', () => {
  // -973932308 with the sign bit cleared is 1173551340; negated it would be 973932308, another partition.
  expect(partitionOfKey(Buffer.from('21'), 7)).toBe(1173551340 % 7)
  expect(1173551340 % 7).not.toBe(973932308 % 7)
})

test('every key has a partition, and the bytes alone decide', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 40 }), fc.integer({ min: 1, max: 50 }), (key, count) => {
      const partition = partitionOfKey(key, count)
      expect(partition).toBeGreaterThanOrEqual(0)
      expect(partition).toBeLessThan(count)
      const shifted = new Uint8Array([9, ...key]).subarray(1)
      expect(partitionOfKey(shifted, count)).toBe(partition)
    }),
  )
})
