/**
 * The checksum of a row of `_log.db`: SQLite notices damage to the structure of its file, and not another value in a row. Rows that an
 * older streamtop wrote have none. Pure.
 */
import { crc32 } from 'node:zlib'
import { StreamtopError } from '../errors.js'

/** CRC-32 of a row's values, in an order that is always the same; 32 bits, unsigned. */
export function rowChecksum(...values: readonly (string | number | null)[]): number {
  return crc32(JSON.stringify(values))
}

/** The error for what `_log.db` says of a table and cannot be true. */
export function damagedRow(table: string, what: string): StreamtopError {
  return new StreamtopError('table-damaged', `_log.db is damaged: what it has of ${what} of table ${table} is not what was recorded`, {
    hint: 'delete tables/_log.db (with its -wal and -shm): it is built again from the _delta_log of each table; only attempts, replays and skips are lost',
  })
}
