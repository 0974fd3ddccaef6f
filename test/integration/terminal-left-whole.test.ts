/** Whatever ends the process, the terminal is as it was: what goes wrong is thrown on purpose in the command's own program. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { until } from './command.js'
import { openTerminal, WHOLE } from './pseudo-terminal.js'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const HOME = mkdtempSync(join(tmpdir(), 'streamtop-whole-'))
const PROGRAM = join(HOME, 'command.mjs')

/** A dashboard whose session never opens, and what then happens in the middle of it. */
const VERBS = `
  import { openDashboard } from './src/tui/open-dashboard.ts'
  import { realEffects as fx } from './src/effects.ts'
  const dashboardWhere = (happens) => async ({ signal }) => {
    const open = () => new Promise(() => setTimeout(happens, 200))
    await openDashboard({ theme: null, isAscii: false, open, streams: process, environment: process.env }, signal, fx)
    return 0
  }
  export const VERBS = [
    { name: 'throws', summary: '', run: dashboardWhere(() => { throw new Error('it broke \\u001b[31m here') }) },
    { name: 'rejects', summary: '', run: dashboardWhere(() => void Promise.reject(new Error('nobody caught it'))) },
    { name: 'exits', summary: '', run: dashboardWhere(() => process.exit(3)) },
    { name: 'waits', summary: '', run: dashboardWhere(() => {}) },
    { name: 'warns', summary: '', run: dashboardWhere(() => { process.emitWarning('take care'); setTimeout(() => { throw new Error('and then') }, 200) }) },
  ]`

beforeAll(() =>
  build({
    ...{ absWorkingDir: ROOT, entryPoints: ['src/cli.ts'], outfile: PROGRAM, bundle: true, format: 'esm', platform: 'node', logLevel: 'warning' },
    banner: { js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);" },
    plugins: [
      {
        name: 'verbs-that-break',
        setup: (setup) => setup.onLoad({ filter: /commands.registry\.ts$/ }, () => ({ contents: VERBS, loader: 'ts', resolveDir: ROOT })),
      },
    ],
  }),
)

afterAll(() => rmSync(HOME, { recursive: true, force: true }))

test.each([
  ['throws', 1, 'streamtop: something went wrong that streamtop does not know: it broke ␛[31m here'],
  ['rejects', 1, 'streamtop: something went wrong that streamtop does not know: nobody caught it'],
])('%s: the terminal first, then the error where it can be read, exit %i', async (verb, exitCode, said) => {
  const terminal = openTerminal(verb, { folder: HOME, program: PROGRAM })
  await terminal.wrote('Opening')
  expect(await terminal.ended).toBe(exitCode)
  expect(await terminal.state()).toEqual(WHOLE)
  expect(terminal.rows().join('')).toContain(said)
})

test('an exit from anywhere', async () => {
  const terminal = openTerminal('exits', { folder: HOME, program: PROGRAM })
  await terminal.wrote('Opening')
  expect(await terminal.ended).toBe(3)
  expect(await terminal.state()).toEqual(WHOLE)
})

test('a signal that nobody asks about', async () => {
  const terminal = openTerminal('waits', { folder: HOME, program: PROGRAM })
  await terminal.shows('Opening')
  terminal.signal('SIGQUIT')
  expect(await terminal.ended).toBe(128 + 3)
  expect(await terminal.state()).toEqual(WHOLE)
})

test('a warning of Node waits until the terminal is left', async () => {
  const terminal = openTerminal('warns', { folder: HOME, program: PROGRAM })
  await terminal.wrote('Opening')
  await terminal.ended
  await terminal.state()
  expect(terminal.rows().join('')).toContain('take care')
  expect(terminal.written.text.indexOf('take care')).toBeGreaterThan(terminal.written.text.lastIndexOf('\u001b[?1049l'))
})

test('ctrl-z where no shell could continue it: the dashboard is there again', async () => {
  const terminal = openTerminal('waits', { folder: HOME, program: PROGRAM })
  await terminal.shows('Opening')
  terminal.press('\u001a')
  await until('it has left and come back', () => terminal.written.text.split('\u001b[?1049h').length === 3)
  await terminal.shows('Opening')
  expect(await terminal.state()).toMatchObject({ isAlternate: true, hasCursor: false })
  terminal.press('\u0003\u0003')
  expect(await terminal.ended).toBe(0)
})

test('a session that never opens can be left: ctrl-c asks, a second one does not wait', async () => {
  const terminal = openTerminal('waits', { folder: HOME, program: PROGRAM })
  await terminal.shows('Opening')
  terminal.press('\u0003\u0003')
  expect(await terminal.ended).toBe(0)
  expect(await terminal.state()).toEqual(WHOLE)
})
