import { createServer, type Server, type Socket } from 'node:net'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { openKafkaConnection } from '../../src/topic/kafka-connection.js'
import { finalError } from '../../src/topic/kafka-errors.js'
import { metadataRequest } from '../../src/topic/kafka-requests.js'
import type { KafkaSettings } from '../../src/topic/kafka-settings.js'

/** A server that tells which requests it knows, and then does with the socket what the test says. */
let server: Server
let settings: KafkaSettings
let onRequest: (socket: Socket, correlationId: number) => void
let connections = 0

beforeEach(async () => {
  connections = 0
  server = createServer((socket) => {
    connections += 1
    socket.on('error', () => {})
    socket.on('data', (bytes) => {
      const [key, correlationId] = [bytes.readInt16BE(4), bytes.readInt32BE(8)]
      if (key === API_VERSIONS) socket.write(apiVersions(correlationId, 12))
      else onRequest(socket, correlationId)
    })
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

describe('a connection', () => {
  it('that broke in the middle of an answer is not used again', async () => {
    const connection = openKafkaConnection(settings)
    onRequest = (socket) => {
      // Says that 100 bytes come, sends 10 and dies.
      socket.end(Buffer.concat([Buffer.from([0, 0, 0, 100]), Buffer.alloc(10)]))
    }
    const first = await connection.send(null, metadataRequest('orders')).catch((error: unknown) => error)
    expect(finalError(first, settings)).toBeNull()
    onRequest = (socket, correlationId) => {
      const answer = Buffer.alloc(8 + 1)
      answer.writeInt32BE(5, 0)
      answer.writeInt32BE(correlationId, 4)
      socket.write(answer)
    }
    // The next answer is read from its own beginning: it is short, and that is what is said of it.
    const second = await connection.send(null, metadataRequest('orders')).catch((error: unknown) => error)
    expect(second).toBeInstanceOf(RangeError)
    expect(connections).toBe(2)
    await connection.close()
  })

  it('that is idle sets no timers but the one that looks for late answers', async () => {
    onRequest = (socket, correlationId) => {
      const answer = Buffer.alloc(8 + 1)
      answer.writeInt32BE(5, 0)
      answer.writeInt32BE(correlationId, 4)
      socket.write(answer)
    }
    const timers = () => process.getActiveResourcesInfo().filter((resource) => resource === 'Timeout').length
    const before = timers()
    const connection = openKafkaConnection(settings)
    const request = { ...metadataRequest('orders'), decode: (bytes: Uint8Array) => bytes.length }
    expect(await connection.send(null, request)).toBe(1)
    expect(timers() - before).toBe(1)
    await connection.close()
    expect(timers()).toBe(before)
  })

  it('to nobody says so, each time', async () => {
    const closed = { ...settings, brokers: [{ host: '127.0.0.1', port: 1 }] }
    const connection = openKafkaConnection(closed)
    for (let time = 0; time < 2; time++) await expect(connection.send(null, metadataRequest('orders'))).rejects.toThrow(/ECONNREFUSED/)
    await connection.close()
  })

  it('asks the brokers one after the other', async () => {
    onRequest = (socket) => socket.destroy()
    const connection = openKafkaConnection({ ...settings, brokers: [{ host: '127.0.0.1', port: 1 }, ...settings.brokers] })
    await expect(connection.send(null, metadataRequest('orders'))).rejects.toThrow(/losed/)
    expect(connections).toBe(1)
    await connection.close()
  })

  it('that is closed ends what is under way', async () => {
    const connection = openKafkaConnection(settings)
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
    const connection = openKafkaConnection(settings)
    await expect(connection.send(null, { ...metadataRequest('orders'), version: 13 })).rejects.toMatchObject({
      code: 'unsupported-feature',
      message: 'the broker does not have Metadata in version 13: it has 0 to 12',
    })
    await connection.close()
  })
})
