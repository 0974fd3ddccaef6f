/** `npm run kafka` as its users have it: an address, a topic, an end that leaves nothing; and a folder that is gone on from after a kill. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text as textOf } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { Kafka, logLevel } from 'kafkajs'
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { hasKafka, until } from './cluster.js'
import { commandFolder } from './kafka-command.js'

const SCRIPT = fileURLToPath(new URL('../../scripts/kafka.mjs', import.meta.url))

describe.skipIf(!hasKafka)('npm run kafka', () => {
  let folder: string
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'streamtop-kafka-'))
    return () => rmSync(folder, { recursive: true, force: true })
  })

  /** Starts it and waits for its address. */
  async function start(...words: string[]): Promise<{ readonly child: ChildProcess; readonly address: string; readonly ended: Promise<number | null> }> {
    const child = spawn(process.execPath, [SCRIPT, ...words], { env: { ...process.env, TMPDIR: folder }, stdio: ['ignore', 'pipe', 'ignore'] })
    onTestFinished(() => void child.kill('SIGINT'))
    const ended = new Promise<number | null>((resolve) => child.on('close', resolve))
    let stdout = ''
    child.stdout.on('data', (bytes) => {
      stdout += bytes
    })
    await until('the address is told', () => stdout.includes('\n'), 90_000)
    return { child, address: stdout.trim(), ended }
  }

  /** Runs it to an end of its own. */
  async function endOf(...words: string[]): Promise<{ readonly exitCode: number | null; readonly stdout: string; readonly stderr: string }> {
    const child = spawn(process.execPath, [SCRIPT, ...words], { env: { ...process.env, TMPDIR: folder }, stdio: ['ignore', 'pipe', 'pipe'] })
    onTestFinished(() => void child.kill('SIGINT'))
    const exitCode = new Promise<number | null>((resolve) => child.on('close', resolve))
    const [stdout, stderr] = await Promise.all([textOf(child.stdout), textOf(child.stderr)])
    return { exitCode: await exitCode, stdout, stderr }
  }

  test('one partition of topic orders; ctrl-c ends it, and nothing is left', { timeout: 120_000 }, async () => {
    const { child, address, ended } = await start()
    expect(address).toMatch(/^127\.0\.0\.1:\d+$/)
    const admin = new Kafka({ brokers: [address], logLevel: logLevel.NOTHING }).admin()
    await admin.connect()
    expect(await admin.fetchTopicOffsets('orders')).toMatchObject([{ partition: 0, high: '0' }])
    await admin.disconnect()
    child.kill('SIGINT')
    expect(await ended).toBe(0)
    expect(readdirSync(folder).filter((name) => name.startsWith('streamtop-'))).toEqual([])
    expect(isJavaAt(folder)).toBe(false)
  })

  test('a port that somebody listens on is refused, and no address is told', async () => {
    const taken = createServer((socket) => void socket.on('error', () => {}))
    await new Promise<void>((resolve) => taken.listen(0, '127.0.0.1', resolve))
    onTestFinished(() => void taken.close())
    const { port } = taken.address() as AddressInfo
    expect(await endOf('--port', String(port))).toEqual({
      exitCode: 1,
      stdout: '',
      stderr: `port ${port} of 127.0.0.1 is taken: something listens there already\n`,
    })
  })

  test.each([
    [['--port', 'abc'], '--port takes a whole number from 1 to 65535, not "abc"\n'],
    [['--partitions', '0'], '--partitions takes a whole number from 1 to 1000, not "0"\n'],
    [['--nosuch'], expect.stringMatching(/^Unknown option '--nosuch'.*\n$/)],
  ])('what cannot be is said in a line: %j', async (words, stderr) => {
    expect(await endOf(...words)).toEqual({ exitCode: 2, stdout: '', stderr })
  })

  test('a folder that is named: killed and started again it has the same port and records, and the query goes on', { timeout: 180_000 }, async () => {
    const kept = join(folder, 'kept')
    const at = commandFolder()
    const first = await start('--folder', kept)
    const kafka = `--kafka ${first.address}`
    at.streamtop(`produce --part 1 ${kafka}`)
    at.streamtop(`run bronze_orders ${kafka}`)
    spawnSync('pkill', ['-9', '-f', `kafka.Kafka ${kept}/`])
    expect(await first.ended).toBe(1)
    const second = await start('--folder', kept)
    expect(second.address).toBe(first.address)
    at.streamtop(`produce --part 2 ${kafka}`)
    expect(at.streamtop(`run bronze_orders ${kafka}`)).toMatchObject({ exitCode: 0, stdout: 'bronze_orders has 5 rows, 5 different\n' })
    second.child.kill('SIGINT')
    expect(await second.ended).toBe(0)
    expect(readdirSync(kept)).toContain('server.properties')
  })
})

function isJavaAt(folder: string): boolean {
  return spawnSync('pgrep', ['-f', `kafka.Kafka ${folder}/`]).status === 0
}
