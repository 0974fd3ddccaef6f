/** How many records arrive at the topics, second by second, from one look at them to the next. */
import type { WorkspaceView } from '../session/session-state.js'

/** What a spark line can show. */
export const ARRIVALS_LIMIT = 60

/**
 * The numbers with what arrived between two looks, spread over the time between them. A number is of one second of the clock, and the
 * last one of the second that goes on.
 */
export function countArrivals(arrivals: readonly number[], before: WorkspaceView | null, now: WorkspaceView): readonly number[] {
  if (before === null || now.takenAtMs <= before.takenAtMs) return arrivals
  const difference = recordsOf(now, before) - recordsOf(before, before)
  // A topic that lost records, or is another one, gave none.
  const records = difference > 0n ? Number(difference) : 0
  const first = secondOf(before.takenAtMs)
  const last = secondOf(now.takenAtMs)
  const counts = arrivals.length === 0 ? [0] : [...arrivals]
  for (let second = Math.max(first, last - ARRIVALS_LIMIT); second <= last; second++) {
    const overlapMs = Math.min(now.takenAtMs, (second + 1) * 1_000) - Math.max(before.takenAtMs, second * 1_000)
    const share = (records * overlapMs) / (now.takenAtMs - before.takenAtMs)
    if (second === first) counts[counts.length - 1] = (counts.at(-1) ?? 0) + share
    else counts.push(share)
  }
  return counts.slice(-ARRIVALS_LIMIT)
}

/** A topic on Kafka that was not known before was there all the same: what it holds did not arrive now. */
function recordsOf({ status }: WorkspaceView, before: WorkspaceView): bigint {
  let records = 0n
  for (const { name, kind, endOffsets } of status.topics) {
    if (kind === 'kafka' && !before.status.topics.some((known) => known.name === name)) continue
    for (const offset of Object.values(endOffsets)) if (/^\d+$/.test(offset)) records += BigInt(offset)
  }
  return records
}

function secondOf(epochMs: number): number {
  return Math.floor(epochMs / 1_000)
}
