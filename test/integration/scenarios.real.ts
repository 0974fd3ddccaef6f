/** `streamtop play` as it is built: every scenario on real processes, and what a failure looks like from outside. */
import { spawn } from 'node:child_process'
import { copyFileSync, readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { commandFolder, until } from './command.js'

const CLI = fileURLToPath(new URL('../../dist/cli.js', import.meta.url))
const SCENARIOS = fileURLToPath(new URL('../../scenarios/', import.meta.url))
const LONG = 900_000

test('all scenarios on real processes are as expected, and say what they say virtually', { timeout: LONG }, async () => {
  const at = commandFolder()
  const [real, virtual] = await Promise.all([at.start('play --all').ended, at.start('play --all --virtual').ended])
  expect(real.stdout).not.toContain('✗')
  expect(real).toMatchObject({ exitCode: 0, stderr: '' })
  expect(real.stdout).toBe(virtual.stdout)
  expect(real.stdout.split('\n').at(-2)).toBe('✓ 16 scenarios, all as expected')
  expect(at.list()).toEqual([])
})

test('with one number changed: exit code 1, and the line says what was found', () => {
  const at = commandFolder()
  const text = readFileSync(`${SCENARIOS}02-plain-append-duplicates.yaml`, 'utf8')
  at.write('mine.yaml', text.replace('rows: 18', 'rows: 9'))
  const { exitCode, stdout, stderr } = at.streamtop('play mine.yaml --virtual')
  expect(stdout).toContain('✗ query events_copy: rows 9 (found 18), distinct 9')
  expect(stdout.split('\n').at(-2)).toBe('✗ 4 of 5 expectations met')
  expect([exitCode, stderr]).toEqual([1, ''])
})

test('a broken file is refused with its line, and nothing has run', () => {
  const at = commandFolder()
  at.write('mine.yaml', 'title: Mine\nscript:\n  - produce: all\n  - run: { query: bronze_orders, kill: commited }\n')
  const { exitCode, stdout, stderr } = at.streamtop('play mine.yaml')
  expect(stderr).toMatch(/^streamtop: mine\.yaml:4: run\.kill: expected a step to die at, .*, found "commited"\n$/)
  expect([exitCode, stdout]).toEqual([1, ''])
})

test('a name of its own gets queries of its own, and a workspace that is named stays', () => {
  const at = commandFolder()
  for (const name of ['16-your-own-query.yaml', '16-your-own-query.mjs']) copyFileSync(`${SCENARIOS}${name}`, at.path(name))
  expect(at.streamtop('play 16-your-own-query.yaml --virtual --workspace kept')).toMatchObject({ exitCode: 0, stderr: '' })
  expect(at.list('kept', 'checkpoints', 'vip_copy', 'commits')).toEqual(['0'])
})

test('without a name it lists them; with --json each event is a line', () => {
  const at = commandFolder()
  const { stdout } = at.streamtop('play')
  expect(stdout.split('\n').slice(0, 2)).toEqual([
    expect.stringMatching(/^01-nine-events +Nine events on their way$/),
    expect.stringMatching(/^02-plain-append-duplicates +A plain append counts every order twice$/),
  ])
  const { exitCode, stdout: lines } = at.streamtop('play 02 --virtual --json')
  const events = lines
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line))
  expect(events[0]).toMatchObject({ scenario: '02-plain-append-duplicates', kind: 'scenario' })
  expect(events.at(-1)).toEqual({ scenario: '02-plain-append-duplicates', kind: 'end', isMet: true, expectations: 5, unmet: 0, failedLine: null })
  expect(exitCode).toBe(0)
})

test.each([
  ['play --all 02', 'streamtop: --all plays all scenarios, and one is named'],
  ['play --all --workspace w', 'streamtop: --workspace goes with one scenario'],
  ['play 77', 'streamtop: there is no scenario 77'],
])('%s is wrong usage', (line, problem) => {
  const { exitCode, stderr } = commandFolder().streamtop(line)
  expect([exitCode, stderr.split('\n')[0]]).toEqual([2, problem])
})

test('ctrl-c ends a play and leaves nothing behind', async () => {
  const at = commandFolder()
  at.write('long.yaml', 'title: Long\nscript:\n  - produce: 1\n  - start: bronze_orders\n  - wait: { query: bronze_orders, until: caught-up }\n  - wait: 60\n')
  const child = spawn(process.execPath, [CLI, 'play', 'long.yaml'], {
    cwd: at.folder,
    env: { ...process.env, TMPDIR: at.folder },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let said = ''
  child.stdout.on('data', (data) => {
    said += data
  })
  const ended = new Promise((resolve) => child.on('close', resolve))
  await until('the long wait', () => said.includes('> wait: 60'))
  child.kill('SIGINT')
  expect(await ended).toBe(130)
  expect(readdirSync(at.folder)).toEqual(['long.yaml'])
})
