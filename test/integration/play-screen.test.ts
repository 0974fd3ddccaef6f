/** `streamtop play` in a real pseudo-terminal: going on, pausing, taking over, and what it ends with. */
import { mkdirSync, readdirSync } from 'node:fs'
import { expect, test, vi } from 'vitest'
import { commandFolder } from './command.js'
import { openTerminal, processesIn, WHOLE } from './pseudo-terminal.js'

// The whole machine may be at work on other tests.
vi.setConfig({ testTimeout: 120_000 })

const MINE = `title: A killed copy
about: Two captions and a kill.
script:
  - say: Three orders arrive.
  - pace: fast
  - produce: 1
  - run: bronze_orders
  - expect: { query: bronze_orders, rows: 3 }
  - say: Now it goes on and on.
  - start: bronze_orders
  - wait: { query: bronze_orders, until: killed }
  - expect: { query: bronze_orders, rows: 4 }
`

function begin(words: string, scenario = MINE) {
  const { folder, path, write } = commandFolder()
  write('mine.yaml', scenario)
  mkdirSync(path('temporary'))
  const terminal = openTerminal(`play mine.yaml ${words}`, { folder, environment: { TMPDIR: path('temporary') } })
  return { terminal, temporary: () => readdirSync(path('temporary')), folder }
}

test('a caption waits, enter goes on, space holds it, a key that does something has the workspace; it exits with 0 and leaves nothing', async () => {
  const { terminal, temporary, folder } = begin('')
  await terminal.shows(/A killed copy ─+ 1\/3/)
  await terminal.shows('enter: goes on to the next caption')
  terminal.press('\r')
  await terminal.shows('Three orders arrive.')
  expect(temporary()).toHaveLength(1)

  // Page down, as a clicker sends it; each further press makes the next line come at once.
  terminal.press('\u001b[6~')
  for (const told of ['pace fast', '3 records sent', 'batch 0 committed: +3 rows', '✓ bronze_orders: rows 3']) {
    terminal.press('\r')
    await terminal.shows(told)
  }
  await terminal.shows('Now it goes on and on.')
  terminal.press('\u001b[D')
  await terminal.shows('an earlier caption')
  terminal.press('\u001b[C')
  await terminal.shows('enter: s  starts bronze_orders')

  terminal.press('\r')
  await terminal.shows(/running +bronze_orders/)
  terminal.press(' ')
  await terminal.shows('paused: space goes on')
  await terminal.shows(/paused +bronze_orders/)
  terminal.press(' ')
  await terminal.shows(/running +bronze_orders/)
  terminal.press('p')
  await terminal.shows('yours now: the play has stopped at line 1')
  await terminal.shows(/bronze_orders +ON +1 +5 +5/)

  terminal.press('q')
  expect(await terminal.ended).toBe(0)
  expect({ state: await terminal.state(), left: temporary(), running: processesIn(folder) }).toEqual({ state: WHOLE, left: [], running: [] })
})

test('with a speed it goes by itself; what was not met is said, and it exits with 1; a workspace that is named stays', async () => {
  const { terminal, folder } = begin('--speed 100 --workspace .', MINE.replace('rows: 3', 'rows: 4').split('  - say: Now')[0])
  await terminal.shows('✗ bronze_orders: rows 4 (found 3)')
  await terminal.shows('✗ 0 of 1 expectations met. The workspace is yours')
  terminal.press('q')
  expect(await terminal.ended).toBe(1)
  expect(readdirSync(folder)).toContain('checkpoints')
})
