/** The ways of writing a batch that power is lost in: what lies there before, the query, and what must hold once it has been started again. */
import { realEffects } from '../../src/effects.js'
import type { QueryDefinition } from '../../src/engine/definition.js'
import { bronzeOrders } from '../../src/queries/bronze-orders.js'
import { eventsCopy } from '../../src/queries/events-copy.js'
import { partRecords } from '../../src/queries/order-parts.js'
import { orders } from '../../src/queries/orders.js'
import { openEmbeddedProducer } from '../../src/topic/embedded-producer.js'
import type { Promised } from '../checker.mjs'
import { BRONZE, COPY, nineEvents, ORDERS, SENT } from '../nine-events.js'
import { everyAndNewest } from '../stories/every-and-newest.js'
import type { Story } from '../stories/workspace.js'

export interface WayOfWriting {
  readonly name: string
  readonly definition: QueryDefinition
  /** Makes its source. */
  prepare(story: Story): Promise<void>
  /** Of the source, so that all there is makes two batches. The start afterwards has none: it would plan other ranges, were one forgotten. */
  readonly sourceOptions: readonly string[]
  readonly promised: Promised
}

const BAD = ['no order', 'nor this', 'nor that'].map((text) => ({ key: null, value: Buffer.from(text) }))

export const WAYS_OF_WRITING: readonly WayOfWriting[] = [
  {
    name: 'append by the native sink',
    definition: bronzeOrders,
    prepare: (story) => story.produce(1, 2, 3, 4),
    sourceOptions: ['maxOffsetsPerTrigger=5'],
    promised: nineEvents(),
  },
  {
    name: 'append by foreachBatch with a txn',
    definition: eventsCopy,
    prepare: bronzeOfTwoVersions,
    sourceOptions: ['maxFilesPerTrigger=1'],
    promised: nineEvents(COPY),
  },
  { name: 'MERGE', definition: orders, prepare: bronzeOfTwoVersions, sourceOptions: ['maxFilesPerTrigger=1'], promised: nineEvents(ORDERS) },
  {
    name: 'two tables in one commit',
    definition: everyAndNewest,
    prepare: bronzeOfTwoVersions,
    sourceOptions: ['maxFilesPerTrigger=1'],
    promised: nineEvents({ ...COPY, name: 'both', table: 'every', alsoWrites: [{ table: 'newest', holds: 'newest-of-each-order' }] }),
  },
  {
    name: 'rows and rejected records in one commit',
    definition: bronzeOrders,
    prepare: sendWithBadRecords,
    sourceOptions: ['maxOffsetsPerTrigger=6'],
    promised: { topic: 'orders', sent: SENT, bad: BAD, queries: [BRONZE] },
  },
]

async function bronzeOfTwoVersions(story: Story): Promise<void> {
  await story.produce(1, 2)
  await story.run(bronzeOrders)
  await story.produce(3, 4)
  await story.run(bronzeOrders)
}

/** Each of the two batches has good and bad ones. */
async function sendWithBadRecords(story: Story): Promise<void> {
  const producer = openEmbeddedProducer(story.folder, 'orders', {}, realEffects)
  const [first, second, third] = BAD as [(typeof BAD)[number], (typeof BAD)[number], (typeof BAD)[number]]
  await producer.send([first, ...partRecords(1), second, ...partRecords(2), ...partRecords(3), third, ...partRecords(4)])
  await producer.close()
}
