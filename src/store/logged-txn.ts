/** A txn as the SQLite log has it. */
import type { Txn } from './actions.js'
import { damagedRow, rowChecksum } from './row-checksum.js'

/** A txn, with the version that set it. */
export type LoggedTxn = Txn & { readonly atVersion: number }

/** Its checksum is null in a row of an older streamtop's. */
export type TxnRow = LoggedTxn & { readonly crc32: number | null }

export function txnChecksum({ appId, version, lastUpdatedMs, atVersion }: LoggedTxn): number {
  return rowChecksum(appId, version, lastUpdatedMs, atVersion)
}

/**
 * The txn of a row.
 * @param table named in the error
 * @throws table-damaged when the row is not what was recorded, as far as it tells
 */
export function toTxn(table: string, { crc32, ...txn }: TxnRow): LoggedTxn {
  if (crc32 !== null && crc32 !== txnChecksum(txn)) throw damagedRow(table, `the txn of ${txn.appId}`)
  return txn
}
