/** What the event log says, in words. Pure; nothing here is safe to print yet, for names and errors may come from anywhere. */
import type { QueryEvent } from '../engine/events.js'
import type { StepEvent } from '../engine/steps.js'
import { counted } from '../observe/counted.js'
import type { LiveAttempt, LiveEnding, LogEntry, QueryInfo } from './session-state.js'

type Words = Pick<LogEntry, 'kind' | 'text'>
type BatchEvent = Extract<QueryEvent, { readonly kind: 'batch' }>
type Write = BatchEvent['writes'][number]

/** A batch that is done: what it came to first, then how far it went and how long it worked. */
export function batchWords(event: BatchEvent, info: QueryInfo, attempt: LiveAttempt | null): Words {
  const { batchId, writes } = event
  const again = event.attempt > 1 ? ' ran again and' : ''
  if (writes.length > 0 && writes.every(({ outcome }) => outcome === 'already-committed')) {
    return { kind: 'skipped', text: `batch ${batchId}${again} was skipped: ${writes.map((write) => skipText(write, batchId)).join('; ')}` }
  }
  const merged = writes.some(({ counts }) => counts) || (attempt?.batchId === batchId && attempt.steps.some(({ event: step }) => step.kind === 'merge'))
  const came = merged ? mergeText(event, info) : rowsText(writes, info)
  const parts = [`${came}${event.attempt > 1 ? `, attempt ${event.attempt}` : ''}`, offsetsText(event), `${workMs(event, attempt).toFixed(1)} ms`]
  return { kind: 'committed', text: `batch ${batchId} committed: ${parts.filter((part) => part !== null).join(', ')}` }
}

/** `txn (events_copy, 2) seen, 0 of 9 rows written`, as far as the reason of the skip names the txn. */
function skipText({ reason, table, rowCount, leftOutRows }: Write, batchId: number): string {
  const found = /txn \((.*), (\d+)\)/.exec(reason ?? '')
  const seen = found ? `txn (${found[1]}, ${found[2]}) seen` : `${table} has batch ${batchId}`
  const isLeftOut = leftOutRows !== null && leftOutRows > 0
  return `${seen}, 0 of ${counted(rowCount, 'row')} written${isLeftOut ? `: ${reason}` : ''}`
}

/** The rows of the query's own table first; those of its others, and records that are none, by name. */
function rowsText(writes: readonly Write[], info: QueryInfo): string {
  if (writes.length === 0) return 'nothing to write'
  const own = writes.filter(({ table }) => table === info.table)
  const others = writes.filter(({ table }) => table !== info.table)
  const sum = (some: readonly Write[]) => some.reduce((rows, { rowCount, outcome }) => rows + (outcome === 'committed' ? rowCount : 0), 0)
  const skipped = writes.filter(({ outcome }) => outcome === 'already-committed')
  return [
    ...(own.length > 0 ? [`+${counted(sum(own), 'row')}`] : []),
    ...others.map((write) => (write.table === `${info.table}_rejected` ? `${sum([write])} rejected` : `+${sum([write])} in ${write.table}`)),
    ...(skipped.length > 0 ? [`skipped in ${skipped.map(({ table }) => table).join(', ')}`] : []),
  ].join(', ')
}

/** What the MERGE made of the events, as far as its process said, and what was written beside it. */
function mergeText({ progress, writes }: BatchEvent, info: QueryInfo): string {
  const events = counted(progress.numInputRows, 'event')
  if (writes.every(({ outcome }) => outcome !== 'committed')) return `${events}, nothing changed`
  const effects = writes.flatMap(({ counts }) => (counts ? [counts] : []))
  if (effects.length > 0) {
    const sum = (of: (effect: (typeof effects)[number]) => number) => effects.reduce((all, effect) => all + of(effect), 0)
    const told = [
      [sum(({ inserted }) => inserted), 'inserted'],
      [sum(({ updated }) => updated), 'updated'],
      [sum(({ deleted }) => deleted), 'deleted'],
      [sum(({ ignored }) => ignored), effects.every(({ isIgnoredLate }) => isIgnoredLate) ? 'late and ignored' : 'changed nothing'],
    ] as const
    const others = writes.filter(({ counts }) => counts === undefined)
    return [events, ...told.flatMap(([count, what]) => (count > 0 ? [`${count} ${what}`] : [])), ...(others.length > 0 ? [rowsText(others, info)] : [])].join(
      ', ',
    )
  }
  return `${events}, ${counted(
    writes.reduce((rows, { rowCount }) => rows + rowCount, 0),
    'row',
  )} merged`
}

/** Of a topic with one partition its offsets, of several how many; null for a table, whose versions are seen beside it. */
function offsetsText({ progress }: BatchEvent): string | null {
  const source = progress.sources[0]
  const [from, to] = [partitionsOf(source?.startOffset), partitionsOf(source?.endOffset)]
  if (to.length === 0) return null
  const [end] = to
  if (to.length > 1 || end === undefined) return `${to.length} partitions`
  return from.length === 1 && from[0] ? `offsets ${from[0][1]} to ${end[1]}` : `offsets to ${end[1]}`
}

/** Of Spark's `{"topic":{"0":57}}`. */
function partitionsOf(offset: unknown): (readonly [string, string])[] {
  const topics = typeof offset === 'object' && offset !== null ? Object.values(offset) : []
  const [partitions] = topics
  if (topics.length !== 1 || typeof partitions !== 'object' || partitions === null) return []
  return Object.entries(partitions).map(([partition, end]) => [partition, String(end)])
}

/** Without what was waited for, and without what a runner dwelt. */
function workMs({ batchId, progress }: BatchEvent, attempt: LiveAttempt | null): number {
  if (attempt?.batchId !== batchId) return progress.batchDuration
  return attempt.steps.reduce((sum, { event, tookMs }) => sum + (event.step === 'planned' ? 0 : tookMs), 0)
}

/** The end of a process. */
export function endingWords({ kind, at, by, error, pid }: LiveEnding): Words {
  switch (kind) {
    case 'stopped':
      return { kind: 'stopped', text: `stopped${askedText(by)}` }
    case 'killed':
      return { kind: 'killed', text: `killed ${placeText(at)}${askedText(by)}` }
    case 'died':
      return { kind: 'killed', text: `died ${placeText(at)} of a signal that nobody here sent${pid === null ? '' : `, pid ${pid}`}` }
    case 'failed':
      return { kind: 'failed', text: errorText(error) }
  }
}

/** The beginning of a process. */
export function startWords(pid: number | null, by: string | null): Words {
  return { kind: 'started', text: `started${pid === null ? '' : `, pid ${pid}`}${askedText(by)}` }
}

function askedText(by: string | null): string {
  return by === null ? '' : ` (you: ${by})`
}

/** Where it was, for people. */
export function placeText(at: StepEvent | null): string {
  if (at === null) return 'between two batches'
  const occurrence = at.occurrence > 1 ? `:${at.occurrence}` : ''
  return `at ${at.step}${occurrence} of batch ${at.batchId}${at.attempt > 1 ? `, attempt ${at.attempt}` : ''}`
}

/** A failure with what to do about it. */
export function errorText(error: LiveEnding['error']): string {
  return error === null ? 'failed' : `failed: ${reasonText(error)}`
}

/** What is wrong, and what to do about it. */
export function reasonText(error: NonNullable<LiveEnding['error']>): string {
  const condition = error.condition === null ? '' : ` [${error.condition}]`
  return `${error.message}${condition}${error.hint === null ? '' : `. ${error.hint}`}`
}

/** What waits for what, or why it cannot be reached. */
export function waitingText({ source }: QueryInfo, unreachable: string | null): string {
  if (unreachable !== null) return `waits: ${unreachable}`
  return source === null ? 'waits for its source' : `waits for ${source.kind} ${source.name}`
}
