/** The walk-through of the README, to the letter: real processes that are really killed, and what they say on stdout. */
import { describe, expect, test } from 'vitest'
import { COPY, expectSound, nineEvents, ORDERS } from '../nine-events.js'
import { ORDERS_SHOWN } from '../orders-shown.js'
import { commandFolder, type CommandFolder } from './command.js'

/** Many processes one after the other, on a machine that may be busy. */
const SLOW_MS = 120_000
const KILLED = 'the stream failed: stopped after writing batch 0, before it was committed\n'
const NINE = 'events_copy has 9 rows, 9 different\n'

/** From the first kill on, the same however bronze came about. */
const FROM_BRONZE_ON: readonly (readonly [line: string, stdout: string])[] = [
  ['run events_copy --crash', KILLED + NINE],
  ['run events_copy', 'events_copy has 18 rows, 9 different\n'],
  ['reset events_copy', ''],
  ['drop events_copy', ''],
  ['run events_copy --idempotent --crash', KILLED + NINE],
  ['run events_copy --idempotent', NINE],
  ['run orders --crash', `the stream failed: stopped after merging\n${ORDERS_SHOWN}`],
  ['run orders', ORDERS_SHOWN],
]

function walk(at: CommandFolder, lines: typeof FROM_BRONZE_ON): void {
  for (const [line, stdout] of lines) {
    expect({ line, ...at.streamtop(line) }).toEqual({ line, exitCode: 0, stdout, stderr: '' })
    if (line !== 'run events_copy --crash') continue
    expect(at.list('checkpoints', 'events_copy', 'offsets')).toEqual(['0'])
    expect(at.list('checkpoints', 'events_copy', 'commits')).toEqual([])
  }
}

test('the ten commands', { timeout: SLOW_MS }, async () => {
  const at = commandFolder()
  const startedMs = performance.now()
  walk(at, [['produce --all', ''], ['run bronze_orders', 'bronze_orders has 9 rows, 9 different\n'], ...FROM_BRONZE_ON])
  await expectSound(at, nineEvents(COPY, ORDERS))
  console.log(`the walk-through took ${Math.round(performance.now() - startedMs)} ms`)
})

test('the same with four parts: bronze has four versions, and events_copy takes all nine rows as batch 0', { timeout: SLOW_MS }, async () => {
  const at = commandFolder()
  for (const [part, rows] of [
    [1, 3],
    [2, 5],
    [3, 7],
    [4, 9],
  ] as const) {
    walk(at, [
      [`produce --part ${part}`, ''],
      ['run bronze_orders', `bronze_orders has ${rows} rows, ${rows} different\n`],
    ])
  }
  expect(at.list('tables', 'bronze_orders', '_delta_log')).toHaveLength(4)
  walk(at, FROM_BRONZE_ON)
  await expectSound(at, nineEvents(COPY, ORDERS))
})

describe('what cannot be done', () => {
  test.each([
    ['run bronze_orders events_copy --crash', 2, /^streamtop: --crash and --crash-at kill one query.*\n.+\n$/],
    ['run event_copy', 2, /^streamtop: there is no query event_copy\ndid you mean events_copy\? The queries are .*\n$/],
    ['run events_copy --idempotent --app-id ', 2, /^streamtop: --app-id takes a text that is not empty\n/],
    ['run events_copy --crash-at lunch', 2, /^streamtop: --crash-at takes STEP.*\nthe steps are planned, .*\n$/],
    ['run events_copy --option maxFilesPerTriger=1', 2, /maxFilesPerTriger/],
    ['run events_copy', 1, /^streamtop: there is no table bronze_orders.*\n.+\n$/],
    ['run bronze_orders', 1, /^streamtop: .*topic orders.*\n.+\n$/],
  ])('%s: exit %i', (line, exitCode, stderr) => {
    const at = commandFolder()
    expect(at.streamtop(line)).toEqual({ exitCode, stdout: '', stderr: expect.stringMatching(stderr) })
    expect(at.list('tables', 'events_copy')).toEqual([])
  })

  test('an armed step that is never reached: exit 1, after the report', () => {
    const at = commandFolder()
    at.streamtop('produce --all')
    expect(at.streamtop('run bronze_orders --crash-at mid-write:2')).toEqual({
      exitCode: 1,
      stdout: 'bronze_orders has 9 rows, 9 different\n',
      stderr: expect.stringMatching(/^streamtop: bronze_orders never reached mid-write:2: nothing was killed\n.+\n$/),
    })
    expect(at.streamtop('run bronze_orders --crash')).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('never reached table-committed') })
  })
})

test('the trap: a new checkpoint with the old app id is told what it left out', { timeout: SLOW_MS }, () => {
  const at = commandFolder()
  for (const line of ['produce --part 1', 'run bronze_orders', 'run events_copy --idempotent', 'produce --part 2', 'run bronze_orders', 'reset events_copy']) {
    expect(at.streamtop(line).exitCode).toBe(0)
  }
  const skipped = at.streamtop('run events_copy --idempotent')
  expect(skipped).toMatchObject({ exitCode: 0, stdout: 'events_copy has 3 rows, 3 different\n' })
  expect(skipped.stderr).toMatch(/batch 0 was skipped, 0 of its 5 rows were written: events_copy has txn \(events_copy, 0\) already/)

  at.streamtop('reset events_copy')
  expect(at.streamtop('run events_copy --idempotent --app-id copy2').stdout).toBe('events_copy has 8 rows, 5 different\n')
})
