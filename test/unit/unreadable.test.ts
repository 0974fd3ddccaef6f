/** A file or folder that this user may not read, one at a time: told by name, of its own table or query alone, and never taken for missing. */
import { cpSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, sep } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { type Effects, type Files, realEffects } from '../../src/effects.js'
import type { Status } from '../../src/observe/status.js'
import { commandHere } from '../command-here.js'
import { sparkWorkspace } from '../spark-fixtures.js'

test.each(['a data file', 'a version', 'the log'])('%s of one table: the others and the queries are shown', async (what) => {
  const folder = workspace()
  const table = join(folder, 'tables', 'events_copy')
  const dataFile = readdirSync(table).find((name) => name.endsWith('.parquet')) ?? ''
  const closed = { 'a data file': dataFile, 'a version': '_delta_log/00000000000000000001.json', 'the log': '_delta_log' }[what] ?? ''
  const fx = withoutRights(join(table, closed))

  const { tables, queries } = JSON.parse((await commandHere(folder, ['status', '--json'], { fx })).stdout) as Status
  const shown = tables.map(({ name, rows, error }) => [name, rows, error?.code, error?.message.includes(join(table, closed))])
  expect(shown).toEqual([
    ['bronze_orders', 9, undefined, undefined],
    ['events_copy', null, 'not-permitted', true],
  ])
  expect(queries.find(({ name }) => name === 'events_copy')).toMatchObject({ offsets: [2, 1, 0], commits: [1, 0], verdict: null })
  expect(await commandHere(folder, ['show', 'events_copy'], { fx })).toMatchObject({ exitCode: 1, stdout: '', stderr: expect.stringContaining('EACCES') })
})

test.each(['metadata', 'offsets', 'offsets/2', 'commits', 'commits/1'])('%s of a checkpoint: nobody is told to reset it', async (what) => {
  const folder = workspace()
  const closed = join(folder, 'checkpoints', 'events_copy', what)
  const fx = withoutRights(closed)

  const { queries } = JSON.parse((await commandHere(folder, ['status', '--json'], { fx })).stdout) as Status
  const error = queries.find(({ name }) => name === 'events_copy')?.lastError
  expect(error).toMatchObject({ code: 'not-permitted', message: expect.stringContaining(closed), hint: expect.not.stringContaining('reset') })
  const { stdout } = await commandHere(folder, ['status'], { fx })
  expect(stdout.replaceAll(/\s+/g, ' ')).toContain('events_copy will not start: a file of the workspace may not be opened')
})

test('a checkpoint behind a closed folder is not said to be none', async () => {
  const folder = workspace()
  const fx = withoutRights(join(folder, 'checkpoints'))
  for (const verb of ['reset', 'replay']) {
    const told = await commandHere(folder, [verb, 'events_copy', '--adopt'], { fx })
    expect(told).toMatchObject({ exitCode: 1, stdout: '', stderr: expect.stringContaining('EACCES') })
  }
  expect(readdirSync(join(folder, 'checkpoints', 'events_copy')).sort()).toEqual(['commits', 'metadata', 'offsets'])
})

function workspace(): string {
  const folder = mkdtempSync(join(tmpdir(), 'streamtop-unreadable-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  cpSync(sparkWorkspace('third-batch-pending'), folder, { recursive: true })
  return folder
}

/** The world to somebody without rights on a path: neither it nor what lies below it can be opened. */
function withoutRights(closed: string): Effects {
  const check = (path: string) => {
    if (path === closed || path.startsWith(closed + sep)) throw Object.assign(new Error(`EACCES: permission denied, open '${path}'`), { code: 'EACCES' })
  }
  const { files } = realEffects
  const closing =
    <R>(call: (path: string) => R) =>
    (path: string): R => {
      check(path)
      return call(path)
    }
  const closedFiles: Partial<Files> = {
    read: closing(files.read),
    readIfPresent: closing(files.readIfPresent),
    list: closing(files.list),
    // Whoever may not read something may still ask what it is.
    status: (path) => (path === closed ? files.status(path) : closing(files.status)(path)),
    exists: (path) => path === closed || (!path.startsWith(closed + sep) && files.exists(path)),
  }
  return { ...realEffects, files: { ...files, ...closedFiles } }
}
