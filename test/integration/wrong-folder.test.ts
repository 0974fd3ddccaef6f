/** Verbs in a place that is no workspace, or with a name that nothing has: told by name, and nothing is left behind. */
import { spawnSync } from 'node:child_process'
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { expect, onTestFinished, test, vi } from 'vitest'
import { sparkWorkspace } from '../spark-fixtures.js'
import { CLI, commandFolder } from './command.js'

test.each([
  'produce --all',
  'run bronze_orders',
  'status',
  'show orders',
  'history orders',
  'drop orders',
  'vacuum orders',
  'optimize orders',
  'reset orders',
  'replay orders',
  'frame',
  'play 01 --plain',
  '--plain --seconds 1',
])('a file is no workspace, nor is what would lie in it: %s', (words) => {
  const { streamtop, path, list } = commandFolder()
  writeFileSync(path('file'), 'kept')
  for (const [workspace, message] of [
    ['file', 'is a file, and a workspace is a folder'],
    ['file/in/it', 'is a file\n'],
  ] as const) {
    const told = streamtop(`${words} --workspace ${workspace}`)
    expect(told).toMatchObject({ exitCode: 2, stdout: '', stderr: expect.stringContaining(message) })
  }
  expect(list()).toEqual(['file'])
})

test.each(['produce --all', 'status', 'run bronze_orders'])(
  'a link that leads nowhere is no workspace, nor is what would lie in it, nor what no folder can be called: %s',
  (words) => {
    const { streamtop, path, list } = commandFolder()
    symlinkSync(path('gone'), path('link'))
    symlinkSync('loop', path('loop'))
    for (const workspace of ['link', 'link/in/it', 'loop']) {
      const told = streamtop(`${words} --workspace ${workspace}`)
      expect(told).toMatchObject({ exitCode: 2, stdout: '', stderr: expect.stringContaining('is a link that leads nowhere') })
    }
    expect(list()).toEqual(['link', 'loop'])
    const told = streamtop(`${words} --workspace ${'long'.repeat(100)}`)
    expect(told.stderr).toMatch(words === 'status' ? /^$/ : /a name is longer than this file system can have/)
  },
)

test('a folder that was removed while a shell stood in it', () => {
  const { path } = commandFolder()
  mkdirSync(path('gone'))
  const { status, stderr } = spawnSync('sh', ['-c', `rmdir ../gone; "$0" ${CLI} produce --all`, process.execPath], { cwd: path('gone'), encoding: 'utf8' })
  expect({ status, stderr }).toEqual({ status: 2, stderr: expect.stringContaining('the folder that this was started in is not there any more') })
})

test('a folder as stdin has no lines', () => {
  const { path, list } = commandFolder()
  const { status, stderr } = spawnSync('sh', ['-c', `"$0" ${CLI} produce --from - < .`, process.execPath], { cwd: path(), encoding: 'utf8' })
  expect({ status, stderr }).toEqual({ status: 1, stderr: expect.stringContaining('stdin is a folder') })
  expect(list()).toEqual([])
})

test.each([
  ['drop nope', 1, 'there is no table nope'],
  ['vacuum nope', 1, 'there is no table nope'],
  ['optimize nope', 1, 'there is no table nope'],
  ['reset nope', 2, 'there is no query nope'],
  ['replay nope', 2, 'there is no query nope'],
  ['replay ../nope', 2, '"../nope" cannot be the name of a query'],
  ['replay bronze_orders', 2, 'bronze_orders has no batch to replay'],
  ['reset bronze_orders', 0, 'bronze_orders has no checkpoint: there was nothing to remove'],
])('%s leaves an empty folder empty, and a folder of Spark is not taken over', (words, exitCode, message) => {
  const empty = commandFolder()
  const spark = commandFolder(sparkWorkspace('plain-append-crashed'))
  const before = [spark.list(), spark.list('tables'), spark.list('checkpoints')]

  expect(empty.streamtop(words)).toMatchObject({ exitCode, stdout: '', stderr: expect.stringContaining(message) })
  expect(spark.streamtop(`${words} --adopt`)).toMatchObject({ exitCode, stdout: '', stderr: expect.stringContaining(message) })

  expect(empty.list()).toEqual([])
  expect([spark.list(), spark.list('tables'), spark.list('checkpoints')]).toEqual(before)
})

test.each([
  ['third-batch-pending', 'batch 2 of events_copy has no commit: it runs again anyway'],
  ['commits-behind', 'and the commits end at batch 0'],
  ['offsets-cut', 'is broken or cut off'],
])('a replay that is refused in %s does not take the folder over', (name, message) => {
  const { streamtop, list } = commandFolder(sparkWorkspace(name))
  const before = [list(), list('tables'), list('checkpoints')]
  expect(streamtop('replay events_copy --adopt')).toMatchObject({ stdout: '', stderr: expect.stringContaining(message) })
  expect([list(), list('tables'), list('checkpoints')]).toEqual(before)
  expect(streamtop('run events_copy')).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('was made by another tool') })
})

test('a play has no place for its workspace: of several each has failed, and the others are tried all the same', () => {
  const { streamtop, path } = commandFolder()
  writeFileSync(path('file'), '')
  vi.stubEnv('TMPDIR', path('file'))
  onTestFinished(() => void vi.unstubAllEnvs())
  const { exitCode, stdout, stderr } = streamtop('play --all --virtual')
  expect([exitCode, stderr.trimEnd().split('\n').length]).toEqual([1, 16])
  expect(stdout).toContain('✗ 16 of 16 scenarios failed: 01-nine-events, ')
})
