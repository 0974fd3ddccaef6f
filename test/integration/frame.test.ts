/** `streamtop frame`: the dashboard drawn once, of what lies there; nothing is started and nothing written. */
import { statSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { sparkWorkspace } from '../spark-fixtures.js'
import { commandFolder } from './command.js'

describe('of a workspace in which events_copy was killed', () => {
  test('as text: the rows that were asked for, none too wide, what happened, and no codes', () => {
    const { streamtop } = killedWorkspace()
    const { exitCode, stdout, stderr } = streamtop('frame --columns 100 --rows 30 --query events_copy')
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' })
    const rows = stdout.split('\n').slice(0, -1)
    expect(rows).toHaveLength(30)
    for (const row of rows) expect(row.length).toBeLessThanOrEqual(100)
    expect(stdout).toMatch(/▶2 +✕ KILLED +events_copy/)
    expect(stdout).toMatch(/events_copy was killed after it wrote batch 0/)
    expect(stdout).not.toContain('\u001b')
  })

  test('without words 80 by 24, and --ascii is ASCII alone', () => {
    const { streamtop } = killedWorkspace()
    const { stdout } = streamtop('frame --ascii')
    expect(stdout).toMatch(/^[\x20-\x7e\n]*$/)
    expect(stdout.split('\n').slice(0, -1)).toHaveLength(24)
  })

  test('as a picture, again and again; nothing in the workspace changes', () => {
    const { streamtop, path, read, list } = killedWorkspace()
    const listed = () => [list(), list('tables'), list('checkpoints', 'events_copy'), statSync(path('tables', '_log.db')).mtimeMs]
    const [top, ...before] = listed()
    for (let round = 0; round < 2; round++) expect(streamtop('frame --svg top.svg --theme light')).toEqual({ exitCode: 0, stdout: '', stderr: '' })
    expect(read('top.svg')).toMatch(/^<svg [\s\S]*>KILLED<[\s\S]*<\/svg>\n$/)
    expect(listed()).toEqual([[...(top as string[]), 'top.svg'].sort(), ...before])
  })
})

test('of a folder that Spark left: the same picture, and not a byte of ours in it', () => {
  const { streamtop, list } = commandFolder(sparkWorkspace('plain-append-crashed'))
  const before = list()
  const { exitCode, stdout } = streamtop('frame --columns 120 --rows 40 --query events_copy')
  expect(exitCode).toBe(0)
  expect(stdout).toMatch(/KILLED +events_copy .* 9 +9 +0 +0 /)
  expect(stdout).toMatch(/died after it wrote batch 0 and before it committed it/)
  expect(list()).toEqual(before)
})

test('an empty folder stays empty', () => {
  const { streamtop, list } = commandFolder()
  expect(streamtop('frame').exitCode).toBe(0)
  expect(list()).toEqual([])
})

test('a query that is not there is wrong usage', () => {
  const { streamtop } = commandFolder()
  expect(streamtop('frame --query event_copy')).toMatchObject({ exitCode: 2, stdout: '' })
})

test.each([
  ['where a folder is', '.', '. is there already'],
  ['into a folder that is not there', 'nowhere/a.svg', 'nowhere/a.svg cannot be made: there is no folder'],
])('a picture %s is refused by its name', (_, path, message) => {
  const { streamtop, list } = commandFolder()
  expect(streamtop(`frame --svg ${path}`)).toMatchObject({ exitCode: 2, stdout: '', stderr: expect.stringContaining(`streamtop: ${message}`) })
  expect(list()).toEqual([])
})

/** Nine events in bronze, in the copy too, and the copy's batch not committed. */
function killedWorkspace() {
  const workspace = commandFolder()
  for (const line of ['produce --all', 'run bronze_orders', 'run events_copy --crash']) workspace.streamtop(line)
  return workspace
}
