/** `run --crash-at` at each step, as a shell does it: what it prints, what is on disk then, and what the next run makes of it. */
import { describe, expect, test } from 'vitest'
import { STEPS, type Step } from '../../src/engine/steps.js'
import { lockRow, withBronze } from '../integration/bronze-folder.js'
import type { CommandFolder } from '../integration/command.js'
import { COPY, expectSound, nineEvents, ORDERS } from '../nine-events.js'

describe.each([
  ['events_copy --idempotent', 'events_copy', 9],
  ['orders', 'orders', 8],
] as const)('run %s', (line, name, rows) => {
  test('killed at each step and run again', async () => {
    const bronze = withBronze()
    for (const step of STEPS) {
      const at = bronze.copy()
      const killed = at.streamtop(`run ${line} --crash-at ${step}`)
      expect(killed, step).toMatchObject({ exitCode: 0, stdout: expect.stringMatching(/^the stream failed: stopped /), stderr: '' })
      expect(lockRow(at, name), `${step}: the row of a process that had no time to take it away`).not.toBeNull()
      expect(at.list('checkpoints', name, 'offsets')).toEqual(step === 'planned' ? [] : ['0'])
      expect(at.list('checkpoints', name, 'commits')).toEqual(step === 'batch-committed' ? ['0'] : [])
      expect(dataFiles(at, name), step).toEqual(filesAfter(step))

      const again = at.streamtop(`run ${line}`)
      expect(again, step).toMatchObject({ exitCode: 0, stderr: '' })
      const count = name === 'orders' ? (again.stdout.match(/^\| +\d/gm)?.length ?? 0) : Number(/has (\d+) rows/.exec(again.stdout)?.[1])
      expect(count, step).toBe(rows)
      expect(at.list('checkpoints', name, 'commits')).toEqual(['0'])
      expect(lockRow(at, name)).toBeNull()
      await expectSound(at, nineEvents(name === 'orders' ? ORDERS : COPY))
    }
  })
})

/** The data files in a table's folder: whole ones end in Parquet's magic. */
function dataFiles(at: CommandFolder, table: string): ('whole' | 'half')[] {
  const names = at.list('tables', table).filter((name) => name.endsWith('.parquet'))
  return names.map((name) => (at.read('tables', table, name).endsWith('PAR1') ? 'whole' : 'half'))
}

function filesAfter(step: Step): ('whole' | 'half')[] {
  const place = STEPS.indexOf(step) - STEPS.indexOf('mid-write')
  return place < 0 ? [] : [place === 0 ? 'half' : 'whole']
}
