/**
 * Orders without end, after the four parts: event n depends on the seed and n alone, so a generator goes on anywhere.
 *
 * Events come in blocks of 24 that know nothing of each other: twelve new orders, of which four are placed, four placed and
 * paid, four placed, paid and shipped, mixed. The n-th event happens about 20 n seconds after 12:40. In every block three come
 * late: two orders that were placed 10 to 40 minutes earlier than their neighbours, and one that is paid before it is placed.
 * No two events are equal, and no order has two events at one time.
 */
import { StreamtopError } from '../errors.js'
import { formatClock, formatDays } from '../store/civil-time.js'
import { murmur2 } from '../topic/partitioner.js'
import type { OutgoingRecord } from '../topic/topic.js'
import { type OrderEvent, orderRecord } from './order-event.js'

/** The events of a seed from number `startIndex` (0 for the first) on, without end; throws `bad-value` when the order ids run out. */
export function* orderGenerator(seed: number | string, startIndex = 0): Generator<OrderEvent, never, undefined> {
  let index = startIndex
  while (true) {
    const block = orderBlock(String(seed), Math.floor(index / EVENTS_OF_BLOCK))
    for (let place = index % EVENTS_OF_BLOCK; place < EVENTS_OF_BLOCK; place++) {
      index += 1
      yield block[place] as OrderEvent
    }
  }
}

/**
 * The next records of a generator that remembers, as text, what it has made. With another seed it goes on at the next block,
 * so that two seeds never make events of one order.
 *
 * @param state what the last call gave, null for a topic to which nothing was generated
 */
export function nextOrders(state: string | null, seed: number | string, count: number): { readonly records: OutgoingRecord[]; readonly state: string } {
  const before = parseState(state)
  const startIndex = before.seed === String(seed) ? before.next : Math.ceil(before.next / EVENTS_OF_BLOCK) * EVENTS_OF_BLOCK
  const events = orderGenerator(seed, startIndex)
  const records = Array.from({ length: count }, () => orderRecord(events.next().value))
  return { records, state: JSON.stringify({ seed: String(seed), next: startIndex + count }) }
}

const EVENTS_OF_BLOCK = 24
const ORDERS_OF_BLOCK = 12
const FIRST_ORDER_ID = 1009
const LAST_ORDER_ID = 2 ** 31 - 1
const STATUSES = ['placed', 'paid', 'shipped'] as const
const SECONDS_OF_EVENT = 20
const SECONDS_OF_DAY = 86_400
/** 2026-10-01 12:40 UTC as days since 1970 and seconds. */
const START_SECONDS = 20_727 * SECONDS_OF_DAY + (12 * 60 + 40) * 60

interface GeneratorState {
  readonly seed: string
  readonly next: number
}

function parseState(state: string | null): GeneratorState {
  return state === null ? { seed: '', next: 0 } : (JSON.parse(state) as GeneratorState)
}

interface DraftOrder {
  readonly orderId: number
  readonly customerId: string
  readonly amount: string
  /** How many events it will have, 1 to 3. */
  readonly eventCount: number
}

interface DraftEvent {
  readonly order: DraftOrder
  readonly status: (typeof STATUSES)[number]
  readonly seconds: number
}

function orderBlock(seed: string, blockNumber: number): OrderEvent[] {
  const firstId = FIRST_ORDER_ID + blockNumber * ORDERS_OF_BLOCK
  if (firstId + ORDERS_OF_BLOCK - 1 > LAST_ORDER_ID) throw new StreamtopError('bad-value', 'the generator has used up the order ids')
  const below = randomNumbers(`${seed}/${blockNumber}`)
  const events = inOrder(draftOrders(firstId, below), START_SECONDS + blockNumber * EVENTS_OF_BLOCK * SECONDS_OF_EVENT, below)
  const late = withLateOnes(events, below)
  return late.map(({ order, status, seconds }) => ({
    orderId: order.orderId,
    customerId: order.customerId,
    status,
    amount: order.amount,
    eventTime: utcText(seconds),
  }))
}

/** A function that gives whole numbers from 0 to below its argument; always the same ones for a text. */
function randomNumbers(text: string): (limit: number) => number {
  let state = murmur2(Buffer.from(text)) | 1
  return (limit) => {
    // Marsaglia's xorshift with 13, 17, 5: never 0 when it did not start there.
    state ^= state << 13
    state ^= state >>> 17
    state ^= state << 5
    return Math.floor(((state >>> 0) / 2 ** 32) * limit)
  }
}

function draftOrders(firstId: number, below: (limit: number) => number): DraftOrder[] {
  const eventCounts = [1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3]
  return Array.from({ length: ORDERS_OF_BLOCK }, (_, position) => ({
    orderId: firstId + position,
    customerId: `C${String(1 + below(40)).padStart(2, '0')}`,
    amount: `${5 + below(95)}.${String(5 * below(20)).padStart(2, '0')}`,
    eventCount: eventCounts.splice(below(eventCounts.length), 1)[0] as number,
  }))
}

/** The events as they happen: at each place either the next order is placed, or one that waits goes a status further. */
function inOrder(orders: readonly DraftOrder[], startSeconds: number, below: (limit: number) => number): DraftEvent[] {
  const events: DraftEvent[] = []
  const waiting: { order: DraftOrder; nextStatus: number }[] = []
  let placed = 0
  while (events.length < EVENTS_OF_BLOCK) {
    const seconds = startSeconds + events.length * SECONDS_OF_EVENT + below(SECONDS_OF_EVENT)
    const next = orders[placed]
    if (next && (waiting.length === 0 || below(2) === 0)) {
      placed += 1
      events.push({ order: next, status: 'placed', seconds })
      if (next.eventCount > 1) waiting.push({ order: next, nextStatus: 1 })
      continue
    }
    const position = below(waiting.length)
    const chosen = waiting[position] as { order: DraftOrder; nextStatus: number }
    events.push({ order: chosen.order, status: STATUSES[chosen.nextStatus] as DraftEvent['status'], seconds })
    chosen.nextStatus += 1
    if (chosen.nextStatus === chosen.order.eventCount) waiting.splice(position, 1)
  }
  return events
}

/** An order's first event is moved back in time, never another, so the times of an order stay apart and in order. */
function withLateOnes(events: readonly DraftEvent[], below: (limit: number) => number): DraftEvent[] {
  const late = [...events]
  const firstLate = below(ORDERS_OF_BLOCK)
  const secondLate = (firstLate + 1 + below(ORDERS_OF_BLOCK - 1)) % ORDERS_OF_BLOCK
  const firstId = Math.min(...events.map((event) => event.order.orderId))
  for (const [place, event] of late.entries()) {
    const position = event.order.orderId - firstId
    if (event.status === 'placed' && (position === firstLate || position === secondLate)) {
      late[place] = { ...event, seconds: event.seconds - 600 - below(1_800) }
    }
  }
  const paid = late.flatMap((event, place) => (event.status === 'paid' ? [place] : []))
  const paidPlace = paid[below(paid.length)] as number
  const paidOrder = (late[paidPlace] as DraftEvent).order
  const placedPlace = late.findIndex((event) => event.order === paidOrder && event.status === 'placed')
  const exchanged = [late[placedPlace], late[paidPlace]] as const
  late[placedPlace] = exchanged[1] as DraftEvent
  late[paidPlace] = exchanged[0] as DraftEvent
  return late
}

/** Seconds since 1970 as `2026-10-01T12:40:00Z`. */
function utcText(seconds: number): string {
  const days = Math.floor(seconds / SECONDS_OF_DAY)
  return `${formatDays(days)}T${formatClock((seconds - days * SECONDS_OF_DAY) * 1_000_000)}Z`
}
