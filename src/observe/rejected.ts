/** Records that are no rows, in words. Pure. */
import { counted } from './counted.js'

/**
 * Where they are, as a clause without an end; null when there are none, or that is not known.
 * @param source the topic that they came by
 * @param table where they are
 */
export function rejectedText(rejected: number | null, source: string | null, table: string | null): string | null {
  if (!rejected || table === null) return null
  const from = source === null ? 'its source' : `topic ${source}`
  return rejected === 1
    ? `1 record of ${from} is no row and is in ${table}, with where it came from and why`
    : `${counted(rejected, 'record')} of ${from} are no rows and are in ${table}, with where they came from and why`
}
