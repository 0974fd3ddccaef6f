/** Fills the topic orders of a workspace with generated orders. */
import { realEffects as fx } from '../src/effects.js'
import { nextOrders } from '../src/queries/order-generator.js'
import { openEmbeddedProducer } from '../src/topic/embedded-producer.js'

export async function sendOrders(workspace: string, count: number): Promise<void> {
  const producer = openEmbeddedProducer(workspace, 'orders', {}, fx)
  for (let left = count; left > 0; left -= 10_000) await producer.sendGenerated((state) => nextOrders(state, 'bench', Math.min(left, 10_000)))
  await producer.close()
}
