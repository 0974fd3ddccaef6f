/** A temporary topic is gone in the end, whenever somebody stops waiting for it. */
import { expect, it } from 'vitest'
import { temporaryTopic } from '../../src/topic/temporary-topic.js'

const RECORDS = [{ key: null, value: Buffer.from('{}') }]

/** A broker that makes a topic at once, and answers, or fails, when it is told to. */
function slowBroker() {
  const did: string[] = []
  let isThere = false
  let [answer, fail]: [() => void, (error: Error) => void] = [() => {}, () => {}]
  const answered = new Promise<void>((resolve, reject) => {
    ;[answer, fail] = [resolve, reject]
  })
  const topic = temporaryTopic({
    async open(onAsked) {
      onAsked()
      isThere = true
      await answered
      did.push('opened')
      return {
        partitions: 1,
        async send() {
          did.push('sent')
          return new Map()
        },
        sendGenerated: async () => new Map(),
        endOffsets: async () => new Map(),
        close: async () => void did.push('closed'),
      }
    },
    async remove() {
      isThere = false
      did.push('removed')
    },
  })
  return { topic, did, answer, fail, isThere: () => isThere }
}

it('is removed after it was used', async () => {
  const { topic, did, answer, isThere } = slowBroker()
  answer()
  await topic.send(RECORDS)
  await topic.send(RECORDS)
  await topic.remove()
  await topic.remove()
  expect(did).toEqual(['opened', 'sent', 'sent', 'closed', 'removed'])
  expect(isThere()).toBe(false)
})

it('is removed when nobody waits any more until it is made', async () => {
  const { topic, answer, isThere } = slowBroker()
  const sending = topic.send(RECORDS)
  const removing = topic.remove()
  expect(isThere()).toBe(true)
  answer()
  await Promise.all([sending, removing])
  expect(isThere()).toBe(false)
})

it('is not made again by what goes on sending although nobody waits for it', async () => {
  const { topic, did, answer, isThere } = slowBroker()
  const line = (async () => {
    for (let part = 1; part <= 4; part++) await topic.send(RECORDS)
  })()
  const removing = topic.remove()
  answer()
  await Promise.allSettled([line, removing])
  expect(did.filter((what) => what === 'opened')).toHaveLength(1)
  expect(isThere()).toBe(false)
})

it('is removed when it was made, and cannot be opened: what went wrong is told', async () => {
  const { topic, did, fail, isThere } = slowBroker()
  const sending = topic.send(RECORDS)
  fail(new Error('no leader'))
  await expect(sending).rejects.toThrow('no leader')
  await topic.remove()
  expect(did).toEqual(['removed'])
  expect(isThere()).toBe(false)
})

it('is not asked for, and not removed, when nothing is sent', async () => {
  const { topic, did } = slowBroker()
  await topic.remove()
  expect(did).toEqual([])
})

it('that could not be asked for is not removed', async () => {
  const did: string[] = []
  const topic = temporaryTopic({
    open: () => Promise.reject(new Error('no broker')),
    remove: async () => void did.push('removed'),
  })
  await expect(topic.send(RECORDS)).rejects.toThrow('no broker')
  await topic.remove()
  expect(did).toEqual([])
})
