/**
 * The checksum of a record in `topics.db`. SQLite notices damage to the structure of its file, and not another value in a row; a topic is
 * the only copy of what was sent, so each record says its own CRC-32. Pure.
 */
import { crc32 } from 'node:zlib'

/**
 * CRC-32 of key and value, begun from a number that is made of the time and both lengths, so that one bit anywhere makes another checksum. The
 * offset need not be in it: another one is a hole.
 * @returns 32 bits, unsigned
 */
export function recordChecksum(timestampMs: number, key: Uint8Array | null, value: Uint8Array | null): number {
  // Odd factors: no bit of a factor's 32 is lost. A null is one byte shorter than nothing.
  const start =
    Math.imul(timestampMs % 2 ** 32, 0x9e3779b1) ^
    Math.imul(Math.floor(timestampMs / 2 ** 32), 0x85ebca6b) ^
    Math.imul(key?.length ?? -1, 0xc2b2ae35) ^
    Math.imul(value?.length ?? -1, 0x27d4eb2f)
  return continued(value, continued(key, start >>> 0))
}

/** Of no bytes zlib gives the start in one case and 0 in another, as they lie in memory. */
function continued(bytes: Uint8Array | null, start: number): number {
  return bytes === null || bytes.length === 0 ? start : crc32(bytes, start)
}
