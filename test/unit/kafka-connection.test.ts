import { AsyncLocalStorage, createHook } from 'node:async_hooks'
import { generateKeyPairSync } from 'node:crypto'
import { createServer, type Server, type Socket } from 'node:net'
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { realEffects } from '../../src/effects.js'
import { openKafkaConnection } from '../../src/topic/kafka-connection.js'
import { finalError, reasonOf } from '../../src/topic/kafka-errors.js'
import { metadataRequest } from '../../src/topic/kafka-requests.js'
import type { KafkaSettings } from '../../src/topic/kafka-settings.js'
import { openKafkaTopicEnds } from '../../src/topic/kafka-topic-ends.js'

/** A server that tells which requests it knows, and then does with the socket what the test says. */
let server: Server
let settings: KafkaSettings
let onRequest: (socket: Socket, correlationId: number) => void
let connections = 0
/** Set by a test whose server answers nothing at all; told that it was asked. */
let isMute: (() => void) | null = null

beforeEach(async () => {
  connections = 0
  isMute = null
  server = createServer((socket) => {
    connections += 1
    socket.on('error', () => {})
    socket.on('data', (bytes) => {
      for (let at = 0; at < bytes.length; at += 4 + bytes.readInt32BE(at)) answer(bytes.readInt16BE(at + 4), bytes.readInt32BE(at + 8))
    })
    const answer = (key: number, correlationId: number) => {
      if (isMute) isMute()
      else if (key === API_VERSIONS) socket.write(apiVersions(correlationId, 12))
      else onRequest(socket, correlationId)
    }
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as { port: number }
  settings = { brokers: [{ host: '127.0.0.1', port }], tls: null, sasl: null }
})
afterEach(() => new Promise((resolve) => server.close(resolve)))

const API_VERSIONS = 18

/** No error, one request (Metadata) in versions 0 to `newest`. */
function apiVersions(correlationId: number, newest: number): Buffer {
  const bytes = Buffer.alloc(4 + 4 + 2 + 4 + 6 + 4)
  bytes.writeInt32BE(bytes.length - 4, 0)
  bytes.writeInt32BE(correlationId, 4)
  bytes.writeInt32BE(1, 10)
  bytes.writeInt16BE(3, 14)
  bytes.writeInt16BE(newest, 18)
  return bytes
}

/** One byte. */
function answerTo(correlationId: number): Buffer {
  const answer = Buffer.alloc(8 + 1)
  answer.writeInt32BE(5, 0)
  answer.writeInt32BE(correlationId, 4)
  return answer
}

describe('a connection', () => {
  it('that broke in the middle of an answer is not used again', async () => {
    const connection = openKafkaConnection(settings, {}, realEffects)
    onRequest = (socket) => {
      // Says that 100 bytes come, sends 10 and dies.
      socket.end(Buffer.concat([Buffer.from([0, 0, 0, 100]), Buffer.alloc(10)]))
    }
    const first = await connection.send(null, metadataRequest('orders')).catch((error: unknown) => error)
    expect(finalError(first, settings)).toBeNull()
    onRequest = (socket, correlationId) => void socket.write(answerTo(correlationId))
    // The next answer is read from its own beginning: it is short, and that is what is said of it.
    const second = await connection.send(null, metadataRequest('orders')).catch((error: unknown) => error)
    expect(second).toBeInstanceOf(RangeError)
    expect(connections).toBe(2)
    await connection.close()
  })

  it.each([
    ['a length below nothing', Buffer.alloc(64, 0xff)],
    ['a length of nothing', Buffer.alloc(64)],
    ['a length that has no room for a number', Buffer.from([0, 0, 0, 2, 1, 1, 1, 1])],
  ])('to a peer that is no Kafka says so: %s', async (_, garbage) => {
    const connection = openKafkaConnection(settings, {}, realEffects)
    onRequest = (socket) => void socket.write(garbage)
    const failure = await connection.send(null, metadataRequest('orders')).catch((error: unknown) => error)
    expect(finalError(failure, settings)).toBeNull()
    expect(reasonOf(failure, settings)).toBe("what comes from there is not Kafka's protocol")
    // And goes on when it is one.
    onRequest = (socket, correlationId) => void socket.write(answerTo(correlationId))
    expect(await connection.send(null, { ...metadataRequest('orders'), decode: (bytes: Uint8Array) => bytes.length })).toBe(1)
    await connection.close()
  })

  it('that is idle sets no timers but the one that looks for late answers', async () => {
    onRequest = (socket, correlationId) => void socket.write(answerTo(correlationId))
    const { within, running } = ownTimers()
    await within(async () => {
      const connection = openKafkaConnection(settings, {}, realEffects)
      const request = { ...metadataRequest('orders'), decode: (bytes: Uint8Array) => bytes.length }
      expect(await connection.send(null, request)).toBe(1)
      expect(await running()).toBe(1)
      await connection.close()
      expect(await running()).toBe(0)
    })
  })

  it('that the broker closed while it was idle is opened again, once for all that are asked at the same time', async () => {
    let last: Socket | null = null
    onRequest = (socket, correlationId) => {
      last = socket
      socket.write(answerTo(correlationId))
    }
    const connection = openKafkaConnection(settings, {}, realEffects)
    const request = { ...metadataRequest('orders'), decode: (bytes: Uint8Array) => bytes.length }
    expect(await connection.send(null, request)).toBe(1)
    const closed = new Promise((resolve) => last?.on('close', resolve))
    ;(last as Socket | null)?.end()
    await closed
    expect(await Promise.all([1, 2, 3].map(() => connection.send(null, request)))).toEqual([1, 1, 1])
    expect(connections).toBe(2)
    await connection.close()
  })

  it('to nobody says so, each time', async () => {
    const closed = { ...settings, brokers: [{ host: '127.0.0.1', port: 1 }] }
    const connection = openKafkaConnection(closed, {}, realEffects)
    for (let time = 0; time < 2; time++) await expect(connection.send(null, metadataRequest('orders'))).rejects.toThrow(/ECONNREFUSED/)
    await connection.close()
  })

  it('asks the brokers one after the other', async () => {
    onRequest = (socket) => socket.destroy()
    const connection = openKafkaConnection({ ...settings, brokers: [{ host: '127.0.0.1', port: 1 }, ...settings.brokers] }, {}, realEffects)
    await expect(connection.send(null, metadataRequest('orders'))).rejects.toThrow(/losed/)
    expect(connections).toBe(1)
    await connection.close()
  })

  it('to a broker that hangs, at once or later, says so in time, and asks it last from then on', async () => {
    const asked: string[] = []
    const hanging = createServer((socket) => socket.on('error', () => {}).on('data', () => asked.push('hanging')))
    await new Promise<void>((resolve) => hanging.listen(0, '127.0.0.1', resolve))
    const { port } = hanging.address() as { port: number }
    onRequest = (socket, correlationId) => {
      asked.push('answering')
      socket.write(answerTo(correlationId))
    }
    const brokers = [{ host: '127.0.0.1', port }, ...settings.brokers]
    const connection = openKafkaConnection({ ...settings, brokers }, { silenceMs: 50 }, realEffects)
    const request = { ...metadataRequest('orders'), decode: (bytes: Uint8Array) => bytes.length }
    for (let time = 0; time < 2; time++) expect(await connection.send(null, request)).toBe(1)
    expect(asked).toEqual(['hanging', 'answering', 'answering'])
    onRequest = () => {}
    await expect(connection.send(brokers[1] ?? null, request)).rejects.toThrow('nothing came for 0.05 s')
    await connection.close()
    await new Promise((resolve) => hanging.close(resolve))
  })

  it('for a look gives up early only where another broker can be asked', async () => {
    isMute = () => {}
    for (const [count, patienceMs] of [
      [1, 3_000],
      [2, 1_000],
    ] as const) {
      const waits: number[] = []
      // Nothing has come by the time that a wait ends.
      const hasty = { ...realEffects, sleep: async (durationMs: number) => void (durationMs > 0 && waits.push(durationMs)) }
      const ends = openKafkaTopicEnds({ ...settings, brokers: Array(count).fill(settings.brokers[0]) }, ['orders'], hasty)
      await expect(ends.look()).rejects.toMatchObject({ code: 'source-missing' })
      expect(waits).toEqual(Array(count).fill(patienceMs))
      await ends.close()
    }
  })

  it('takes an answer that comes slowly for no silence', async () => {
    onRequest = (socket, correlationId) => {
      const bytes = [...answerTo(correlationId)]
      const drip = setInterval(() => {
        const byte = bytes.shift()
        if (byte === undefined) return clearInterval(drip)
        socket.write(Buffer.from([byte]))
      }, 15)
    }
    const connection = openKafkaConnection(settings, { silenceMs: 60 }, realEffects)
    const request = { ...metadataRequest('orders'), decode: (bytes: Uint8Array) => bytes.length }
    expect(await connection.send(null, request)).toBe(1)
    await connection.close()
  })

  it('takes it for no silence of the broker when this process was busy', async () => {
    onRequest = (socket, correlationId) => {
      socket.write(answerTo(correlationId))
      const until = performance.now() + 150
      while (performance.now() < until);
    }
    const connection = openKafkaConnection(settings, { silenceMs: 50 }, realEffects)
    const request = { ...metadataRequest('orders'), decode: (bytes: Uint8Array) => bytes.length }
    for (let time = 0; time < 3; time++) expect(await connection.send(null, request)).toBe(1)
    expect(connections).toBe(1)
    await connection.close()
  })

  it.each(['nothing', 'no request'])('to a broker that answers %s is closed at once', async (what) => {
    const asked = new Promise<void>((resolve) => {
      onRequest = () => resolve()
      if (what === 'nothing') isMute = resolve
    })
    const connection = openKafkaConnection(settings, { silenceMs: 600_000 }, realEffects)
    const answer = connection.send(null, metadataRequest('orders')).catch((error: Error) => error.message)
    await asked
    const before = performance.now()
    await connection.close()
    expect(await answer).toBe('closed')
    // Whatever else would have ended it has ten seconds at least.
    expect(performance.now() - before).toBeLessThan(9_000)
  })

  it('that is closed ends what is under way', async () => {
    const connection = openKafkaConnection(settings, {}, realEffects)
    const asked = new Promise<void>((resolve) => {
      onRequest = () => resolve()
    })
    const answer = connection.send(null, metadataRequest('orders')).catch((error: Error) => error.message)
    await asked
    await connection.close()
    expect(await answer).toBe('closed')
    await expect(connection.send(null, metadataRequest('orders'))).rejects.toThrow('is closed')
  })

  it('to a broker that lacks a version names it', async () => {
    const connection = openKafkaConnection(settings, {}, realEffects)
    await expect(connection.send(null, { ...metadataRequest('orders'), version: 13 })).rejects.toMatchObject({
      code: 'unsupported-feature',
      message: 'the broker does not have Metadata in version 13: it has 0 to 12',
    })
    await connection.close()
  })

  it('with a key that its password does not open is refused before it is made', () => {
    const { privateKey: key } = generateKeyPairSync('ed25519', {
      publicKeyEncoding: { type: 'spki', format: 'pem' },
      privateKeyEncoding: { type: 'pkcs8', format: 'pem', cipher: 'aes-256-cbc', passphrase: 'right' },
    })
    const withKey = (keyPassword: string | null, pem = key) => ({ ...settings, tls: { ca: null, certificate: null, key: pem, keyPassword } })
    for (const wrong of [withKey('canary'), withKey(null), withKey('right', 'no PEM at all, canary')]) {
      const refused = errorOf(() => openKafkaConnection(wrong, {}, realEffects))
      expect(refused).toMatchObject({ code: 'bad-config', hint: expect.stringContaining('ssl.key.password') })
      expect(`${refused.message} ${refused.stack}`).not.toContain('canary')
    }
    openKafkaConnection(withKey('right'), {}, realEffects)
  })
})

/** Counts the timers that run of those that some work has set, for vitest sets and clears its own beside it. */
function ownTimers() {
  const own = new AsyncLocalStorage<true>()
  const timers = new Set<number>()
  const hook = createHook({
    init: (id, type) => void (type === 'Timeout' && own.getStore() === true && timers.add(id)),
    destroy: (id) => void timers.delete(id),
  }).enable()
  onTestFinished(() => void hook.disable())
  return {
    within: (work: () => Promise<void>) => own.run(true, work),
    /** The end of a timer is told in a later turn. */
    running: async () => {
      for (let turn = 0; turn < 3; turn++) await new Promise((resolve) => setImmediate(resolve))
      return timers.size
    },
  }
}

function errorOf(work: () => unknown): Error {
  try {
    work()
  } catch (error) {
    return error as Error
  }
  throw new Error('nothing was thrown')
}
