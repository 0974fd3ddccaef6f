/** Queries as real processes: orphaned, doubled, stopped, killed as they go on; and the bytes that they leave. */
import { describe, expect, test } from 'vitest'
import { COPY, expectSound, nineEvents } from '../nine-events.js'
import { lockRow, withBronze } from './bronze-folder.js'
import { commandFolder, isRunning, until } from './command.js'

test('the files of a checkpoint are Spark’s, byte for byte', () => {
  const at = withBronze()
  expect(at.streamtop('run events_copy').exitCode).toBe(0)
  const uuid = '[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}'

  for (const [name, source] of [
    ['bronze_orders', '{"orders":{"0":9}}'],
    ['events_copy', `{"sourceVersion":1,"reservoirId":"(${uuid})","reservoirVersion":1,"index":-1,"isStartingVersion":false}`],
  ] as const) {
    expect(at.read('checkpoints', name, 'metadata')).toMatch(new RegExp(`^\\{"id":"${uuid}"\\}$`))
    expect(at.read('checkpoints', name, 'commits', '0')).toBe('v1\n{"nextBatchWatermarkMs":0}')
    const [version, metadata, ...sources] = at.read('checkpoints', name, 'offsets', '0').split('\n')
    expect(version).toBe('v1')
    expect(metadata).toMatch(/^\{"batchWatermarkMs":0,"batchTimestampMs":\d{13},"conf":\{("spark\.sql\.[\w.]+":"[\w.]+",?){15}\}\}$/)
    expect(sources).toEqual([expect.stringMatching(new RegExp(`^${source}$`))])
  }
  expect(at.read('checkpoints', 'bronze_orders', 'sources', '0', '0')).toBe('\0v1\n{"orders":{"0":0}}')
  expect(at.list('checkpoints', 'bronze_orders', 'sources', '0')).toEqual(['0', 'streamtop.json'])
  expect(at.list('checkpoints', 'events_copy', 'offsets')).toEqual(['0'])
  expect(at.list('checkpoints', 'events_copy', 'commits')).toEqual(['0'])
})

describe('a query that goes on', () => {
  /** events_copy at an interval, with its first batch done. */
  async function running() {
    const at = withBronze()
    const { child, ended } = at.start('run events_copy --interval 100')
    await until('commits/0', () => at.list('checkpoints', 'events_copy', 'commits').includes('0'))
    const pid = lockRow(at, 'events_copy') ?? 0
    expect(isRunning(pid)).toBe(true)
    return { at, child, ended, pid }
  }

  test('keeps a second one out, which names it; ctrl-c ends it with 130 and leaves no process', async () => {
    const { at, child, ended, pid } = await running()
    const second = at.streamtop('run events_copy')
    expect(second).toMatchObject({ exitCode: 1, stdout: '', stderr: expect.stringContaining(`query events_copy is held by process ${pid}`) })
    expect(at.streamtop('reset events_copy')).toMatchObject({ exitCode: 1, stderr: expect.stringContaining(String(pid)) })
    expect(at.list('checkpoints', 'events_copy', 'commits')).toEqual(['0'])

    child.kill('SIGINT')
    expect(await ended).toMatchObject({ exitCode: 130 })
    await until('the end of the child', () => !isRunning(pid))
    expect(lockRow(at, 'events_copy')).toBeNull()
  })

  test('waits for its source, and is stopped there without a word and without a trace in its checkpoint', async () => {
    const at = commandFolder()
    const { child, ended } = at.start('run bronze_orders --interval 100')
    await until('its lock', () => lockRow(at, 'bronze_orders') !== null)
    child.kill('SIGINT')
    expect(await ended).toMatchObject({ exitCode: 130, stderr: '' })
    expect(at.list('checkpoints')).toEqual([])
  })

  test('takes what arrives meanwhile', async () => {
    const { at, child, ended } = await running()
    for (const line of ['produce --part 1', 'run bronze_orders']) expect(at.streamtop(line).exitCode).toBe(0)
    await until('commits/1', () => at.list('checkpoints', 'events_copy', 'commits').includes('1'))
    child.kill('SIGTERM')
    expect(await ended).toMatchObject({ exitCode: 143, stdout: 'events_copy has 12 rows, 12 different\n' })
  })

  test('ends when its parent is killed, and the next run waits for that', async () => {
    const { at, child, pid } = await running()
    child.kill('SIGKILL')
    expect(at.streamtop('run events_copy')).toMatchObject({ exitCode: 0, stdout: 'events_copy has 9 rows, 9 different\n' })
    await until('the end of the child', () => !isRunning(pid))
    await expectSound(at, nineEvents({ ...COPY, exactlyOnce: false }))
  })

  test('that is killed alone is a failure of its run', async () => {
    const { at, ended, pid } = await running()
    process.kill(pid, 'SIGKILL')
    expect(await ended).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('killed by SIGKILL, which nobody asked for') })
    await expectSound(at, nineEvents({ ...COPY, exactlyOnce: false, isUnhealed: true }))
  })
})

test('three queries at once are caught up when the last has taken what the first wrote', () => {
  const at = commandFolder()
  at.streamtop('produce --all')
  const { exitCode, stdout, stderr } = at.streamtop('run orders events_copy bronze_orders')
  expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' })
  expect(stdout.match(/^\| +100\d/gm)).toHaveLength(8)
  expect(stdout).toContain('events_copy has 9 rows, 9 different\n')
  expect(stdout).toContain('bronze_orders has 9 rows, 9 different\n')
})

describe('queries of one’s own', () => {
  const vip = (body: string) => `
    import { query, table, foreachBatch } from 'streamtop'
    export default [query('vip_copy', table('bronze_orders'), foreachBatch(async (batch) => { ${body} }), { table: 'vip' })]
  `
  const append = `await batch.append('vip', batch.filter((row) => row.amount >= 30), { txnAppId: 'vip_copy', txnVersion: batch.id })`

  test('are found in streamtop.config.mjs, and killed as any', async () => {
    const at = withBronze()
    at.write('streamtop.config.mjs', vip(append))
    expect(at.streamtop('run vip_copy --crash').stdout).toBe(
      'the stream failed: stopped after writing batch 0, before it was committed\nvip has 2 rows, 2 different\n',
    )
    expect(at.streamtop('run vip_copy')).toEqual({ exitCode: 0, stdout: 'vip has 2 rows, 2 different\n', stderr: '' })
    await expectSound(at, nineEvents({ ...COPY, name: 'vip_copy', table: 'vip', where: 'amount >= 30' }))
  })

  test('that throw stop: exit 1, and the batch runs again whole, with its own time', () => {
    const at = withBronze()
    at.write('streamtop.config.mjs', vip(`${append}; throw new Error('the mail server is down at ' + batch.timestampMs)`))
    const failed = at.streamtop('run vip_copy')
    expect(failed).toMatchObject({ exitCode: 1, stdout: '' })
    expect(failed.stderr).toMatch(
      /^streamtop: the foreachBatch function of vip_copy failed in batch 0: the mail server is down at \d+ \[FOREACH_BATCH_USER_FUNCTION_ERROR\]\n/,
    )
    expect(at.list('checkpoints', 'vip_copy', 'offsets')).toEqual(['0'])
    expect(at.list('checkpoints', 'vip_copy', 'commits')).toEqual([])
    expect(at.streamtop('run vip_copy').stderr).toBe(failed.stderr)

    at.write('streamtop.config.mjs', vip(append))
    expect(at.streamtop('run vip_copy')).toEqual({ exitCode: 0, stdout: 'vip has 2 rows, 2 different\n', stderr: '' })
  })
})
