/** The producer without a broker: a server that knows a topic, and refuses to let anybody produce. */
import { createServer, type Server, type Socket } from 'node:net'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { realEffects } from '../../src/effects.js'
import { ByteWriter } from '../../src/topic/kafka-bytes.js'
import { openKafkaProducer } from '../../src/topic/kafka-producer.js'
import type { KafkaSettings } from '../../src/topic/kafka-settings.js'

const METADATA = 3
const API_VERSIONS = 18
const INIT_PRODUCER_ID = 22
const CLUSTER_AUTHORIZATION_FAILED = 31

let server: Server
let settings: KafkaSettings
let port = 0
const sockets = new Set<Socket>()
/** Told when no connection is left. */
let onLastClosed: () => void = () => {}

beforeEach(async () => {
  server = createServer((socket) => {
    sockets.add(socket)
    socket.on('error', () => {})
    socket.on('close', () => {
      sockets.delete(socket)
      if (sockets.size === 0) onLastClosed()
    })
    socket.on('data', (bytes) => {
      for (let at = 0; at < bytes.length; at += 4 + bytes.readInt32BE(at)) {
        const body = answerTo(bytes.readInt16BE(at + 4), bytes.readInt16BE(at + 6))
        socket.write(
          new ByteWriter()
            .int32(body.length + 4)
            .raw(bytes.subarray(at + 8, at + 12))
            .raw(body)
            .finish(),
        )
      }
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  port = (server.address() as { port: number }).port
  settings = { brokers: [{ host: '127.0.0.1', port }], tls: null, sasl: null }
})
afterEach(() => {
  for (const socket of sockets) socket.destroy()
  server.close()
})

function answerTo(key: number, version: number): Buffer {
  if (key === API_VERSIONS) return versions()
  if (key === METADATA) return version === 12 ? metadataWithIds() : metadataOfKafkajs()
  return new ByteWriter().int32(0).int16(CLUSTER_AUTHORIZATION_FAILED).int64(-1n).int16(-1).finish()
}

function versions(): Buffer {
  const known = [
    [METADATA, 12],
    [INIT_PRODUCER_ID, 1],
  ] as const
  const writer = new ByteWriter().int16(0)
  return writer.array(known, ([key, newest]) => writer.int16(key).int16(0).int16(newest)).finish()
}

function metadataWithIds(): Buffer {
  const writer = new ByteWriter().unsignedVarint(0).int32(0)
  const none = () => writer.compactArray([], () => {})
  writer.compactArray([1], (node) => writer.int32(node).compactString('127.0.0.1').int32(port).unsignedVarint(0).unsignedVarint(0))
  writer.compactString('cluster').int32(1)
  writer.compactArray(['orders'], (name) => {
    writer.int16(0).compactString(name).raw(Buffer.alloc(16, 1)).int8(0)
    writer.compactArray([0], (partition) => {
      writer.int16(0).int32(partition).int32(1).int32(0)
      none()
      none()
      none().unsignedVarint(0)
    })
    writer.int32(0).unsignedVarint(0)
  })
  return writer.unsignedVarint(0).finish()
}

/** Version 6, the newest that kafkajs has. */
function metadataOfKafkajs(): Buffer {
  const writer = new ByteWriter().int32(0)
  writer.array([1], (node) => writer.int32(node).string('127.0.0.1').int32(port).int16(-1))
  writer.string('cluster').int32(1)
  writer.array(['orders'], (name) => {
    writer.int16(0).string(name).int8(0)
    writer.array([0], (partition) => {
      writer.int16(0).int32(partition).int32(1)
      for (let list = 0; list < 3; list++) writer.array([], () => {})
    })
  })
  return writer.finish()
}

it('leaves no connection behind, however often it is refused', async () => {
  const producer = await openKafkaProducer(settings, 'orders', { workspace: '.' }, realEffects)
  for (let time = 0; time < 2; time++) {
    await expect(producer.send([{ key: null, value: Buffer.from('v') }])).rejects.toMatchObject({
      code: 'bad-config',
      condition: 'CLUSTER_AUTHORIZATION_FAILED',
    })
  }
  const lastClosed = new Promise<void>((resolve) => {
    onLastClosed = resolve
  })
  await producer.close()
  await lastClosed
  expect(sockets.size).toBe(0)
})
