/**
 * CRC-32C (Castagnoli), which guards each of Kafka's record batches: polynomial 0x1EDC6F41, reflected, as in RFC 3720. Eight bytes
 * a step by eight tables.
 */

/** The checksum of `bytes` from `start` to `end`, as an unsigned number. */
export function crc32c(bytes: Uint8Array, start = 0, end = bytes.length): number {
  let crc = -1
  let at = start
  for (const last = end - 7; at < last; at += 8) {
    crc ^= byte(bytes, at) | (byte(bytes, at + 1) << 8) | (byte(bytes, at + 2) << 16) | (byte(bytes, at + 3) << 24)
    crc =
      (TABLES[0x700 | (crc & 0xff)] as number) ^
      (TABLES[0x600 | ((crc >>> 8) & 0xff)] as number) ^
      (TABLES[0x500 | ((crc >>> 16) & 0xff)] as number) ^
      (TABLES[0x400 | (crc >>> 24)] as number) ^
      (TABLES[0x300 | byte(bytes, at + 4)] as number) ^
      (TABLES[0x200 | byte(bytes, at + 5)] as number) ^
      (TABLES[0x100 | byte(bytes, at + 6)] as number) ^
      (TABLES[byte(bytes, at + 7)] as number)
  }
  for (; at < end; at++) crc = (crc >>> 8) ^ (TABLES[(crc ^ byte(bytes, at)) & 0xff] as number)
  return ~crc >>> 0
}

/** Table n, at n * 256, is what a byte does to the sum n bytes later. */
const TABLES = makeTables()

function makeTables(): Int32Array {
  const tables = new Int32Array(8 * 256)
  for (let index = 0; index < 256; index++) {
    let crc = index
    for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? (crc >>> 1) ^ 0x82f63b78 : crc >>> 1
    tables[index] = crc
  }
  for (let table = 1; table < 8; table++) {
    for (let index = 0; index < 256; index++) {
      const before = tables[(table - 1) * 256 + index] as number
      tables[table * 256 + index] = (before >>> 8) ^ (tables[before & 0xff] as number)
    }
  }
  return tables
}

function byte(bytes: Uint8Array, at: number): number {
  return bytes[at] as number
}
