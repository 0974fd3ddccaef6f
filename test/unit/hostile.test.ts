/**
 * Foreign text on its way to a terminal: records, names on disk, a log's own words, errors. Every verb shows marks in its place, and no
 * byte of it acts: of all control characters only the line end reaches stdout and stderr.
 */
import { cpSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { realEffects as fx } from '../../src/effects.js'
import { inlineRunner } from '../../src/engine/inline-runner.js'
import { columnsFromRows } from '../../src/store/columns-from-rows.js'
import { defineSchema } from '../../src/store/schema.js'
import { Store } from '../../src/store/store.js'
import { openEmbeddedTopic } from '../../src/topic/embedded-topic.js'
import { commandHere } from '../command-here.js'
import { sparkWorkspace } from '../spark-fixtures.js'

// The verb itself, with its queries in this process.
vi.mock('../../src/engine/process-runner.js', () => ({ processRunner: () => inlineRunner(openEmbeddedTopic, fx) }))

/** Clears the screen, sets the title and the clipboard, turns the line around, is invisible, ends the line, is a C1 introducer. */
const HOSTILE = '\u001b[2J\u001b]0;owned\u0007\u001b]52;c;b3duZWQ=\u0007\u200d\u00ad\ufeff\ufe0f\u202egnp\u2066\u200b\u2028\u0085\u009b31m\r\b\u007f'
/** The same without what a folder's name cannot have; a file system takes all the rest. */
const NAME = `evil${HOSTILE}`

const folders: string[] = []
const temporaryFolder = () => {
  const folder = mkdtempSync(join(tmpdir(), 'streamtop-hostile-'))
  folders.push(folder)
  return folder
}
afterAll(() => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true })
})

/** Runs a command line and looks at every character that it printed. */
async function printed(workspace: string, ...words: string[]): Promise<string> {
  let all = ''
  for (const isTerminal of [false, true]) {
    // What a verb draws for a terminal of its own accord (a count that is drawn over) is not foreign text.
    if (isTerminal && ['produce', 'frame'].includes(words[0] ?? '')) continue
    const { stdout, stderr } = await commandHere(workspace, words, { isTerminal })
    const text = stdout + stderr
    expect(text.match(ACTING), words.join(' ')).toBeNull()
    all += text
  }
  return all
}

/** Controls but for the line end; marks of direction and all else that is not seen; other ends of a line. */
const ACTING = /(?!\n)[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/gu
/** What stands in its place: a control picture, a number, or an escape of JSON or of Spark. */
const MARKED = /\u241b|\\u\{1b\}|\\u001b/

const source = (...path: string[]) => JSON.stringify(join(import.meta.dirname, '..', '..', 'src', ...path))

/** Orders with hostile text in keys and values, and lines that are no orders at all. */
function hostileLines(): string {
  const order = (id: number) =>
    JSON.stringify({ order_id: id, customer_id: `C${HOSTILE}`, status: HOSTILE, amount: 1.5, event_time: '2026-10-01T09:15:00Z', [HOSTILE]: HOSTILE })
  return [`${HOSTILE.replace('\r', '')}\t${order(1)}`, order(2)].join('\n')
}

describe('in our own workspace', () => {
  let folder: string
  beforeAll(async () => {
    folder = temporaryFolder()
    writeFileSync(join(folder, 'lines.tsv'), hostileLines())
    writeFileSync(join(folder, 'garbage.tsv'), `{"order_id":"${HOSTILE.replace(/[\r\n]/g, '')}"\n\u0000\u001b[2J\u00ff`)
    writeFileSync(
      join(folder, 'streamtop.config.mjs'),
      `import { foreachBatch, query, table } from ${source('engine', 'definition.ts')}
      const fails = (batch) => { throw new Error(${JSON.stringify(HOSTILE)} + batch.id) }
      export default [query('fails', table('bronze_orders'), foreachBatch(fails))]\n`,
    )
    const store = Store.open(folder, fx)
    const schema = defineSchema({ [`a${HOSTILE}`]: 'string', bytes: 'binary' })
    await store.append('odd', columnsFromRows(schema, [{ [`a${HOSTILE}`]: HOSTILE, bytes: Buffer.from(HOSTILE) }]), { kind: 'write' })
    store.close()
  })

  it('records reach tables and show as marks', async () => {
    await printed(folder, 'produce', '--from', join(folder, 'lines.tsv'))
    await printed(folder, 'run', 'bronze_orders')
    for (const words of [
      ['show', 'bronze_orders'],
      ['show', 'odd'],
      ['show', 'bronze_orders', '--json'],
      ['show', 'odd', '--json'],
    ]) {
      expect(await printed(folder, ...words)).toMatch(MARKED)
    }
  })

  it('an app id in notes, status and history', async () => {
    const idempotent = ['run', 'events_copy', '--idempotent', '--app-id', HOSTILE]
    await printed(folder, ...idempotent, '--crash')
    for (const words of [['status'], ['status', '--json'], ['history', 'events_copy'], ['history', 'events_copy', '--json']]) {
      expect(await printed(folder, ...words)).toMatch(MARKED)
    }
    expect(await printed(folder, ...idempotent)).toContain('events_copy has 2 rows')
    // The trap, whose note names the app id.
    await printed(folder, 'reset', 'events_copy')
    expect(await printed(folder, ...idempotent)).toMatch(MARKED)
    expect(await printed(folder, 'status')).toMatch(MARKED)
  })

  it("a user's error, in the run and in the status after it", async () => {
    expect(await printed(folder, 'run', 'fails')).toMatch(MARKED)
    expect(await printed(folder, 'run', 'fails', '--json')).toMatch(MARKED)
    expect(await printed(folder, 'status')).toMatch(MARKED)
    expect(await printed(folder, 'status', '--json')).toMatch(MARKED)
  })

  it('the dashboard, drawn once', async () => {
    expect(await printed(folder, 'frame')).toMatch(MARKED)
  })

  it('records that are no orders', async () => {
    await printed(folder, 'produce', '--from', join(folder, 'garbage.tsv'))
    await printed(folder, 'run', 'bronze_orders')
    await printed(folder, 'status')
    await printed(folder, 'status', '--json')
  })

  it.each([
    ['run', NAME],
    ['run', 'events_copy', '--option', NAME],
    ['run', 'events_copy', '--option', `${NAME}=1`],
    ['run', 'events_copy', '--crash-at', NAME],
    ['run', 'events_copy', '--config', NAME],
    ['run', 'events_copy', NAME],
    ['produce', '--from', NAME],
    ['produce', '--all', '--topic', NAME],
    ['produce', '--rate', NAME],
    ['show', NAME],
    ['show', 'odd', '--version', NAME],
    ['history', NAME],
    ['status', '--workspace', NAME],
    ['status', NAME],
    ['drop', NAME],
    ['reset', NAME],
    ['replay', NAME],
    [NAME],
    [`--${NAME}`],
  ])('words on the command line that are wrong: %#', async (...words) => {
    await printed(folder, ...words)
    await printed(folder, ...words, '--json')
  })
})

describe('in a folder that another tool left', () => {
  let folder: string
  beforeAll(() => {
    folder = temporaryFolder()
    cpSync(sparkWorkspace('third-batch-pending'), folder, { recursive: true })
    const checkpoints = join(folder, 'checkpoints')
    const damaged = join(checkpoints, 'damaged')
    cpSync(join(checkpoints, 'events_copy'), join(checkpoints, NAME), { recursive: true })
    cpSync(join(checkpoints, 'events_copy'), damaged, { recursive: true })
    writeFileSync(join(damaged, 'offsets', '2'), `v1\n{"batchWatermarkMs":0,"batchTimestampMs":1}\n{"${JSON.stringify(HOSTILE).slice(1, -1)}":{"0":1}}`)
    writeFileSync(join(damaged, 'commits', '1'), `v${HOSTILE}\n`)
    cpSync(join(folder, 'tables', 'events_copy'), join(folder, 'tables', NAME), { recursive: true })
    // A log in which all that its writer chose freely is hostile.
    const log = join(folder, 'tables', 'events_copy', '_delta_log', '00000000000000000001.json')
    const actions = readFileSync(log, 'utf8')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, Record<string, unknown>>)
    const commitInfo = {
      timestamp: 1,
      operation: HOSTILE,
      operationParameters: { queryId: HOSTILE },
      engineInfo: HOSTILE,
      streamtop: { query: HOSTILE, queryId: HOSTILE, batch: 1, attempt: 2, write: 1, end: HOSTILE },
    }
    const others = actions.filter((action) => action['commitInfo'] === undefined && action['txn'] === undefined)
    writeFileSync(log, [{ commitInfo }, { txn: { appId: HOSTILE, version: 1 } }, ...others].map((action) => `${JSON.stringify(action)}\n`).join(''))
    mkdirSync(join(folder, 'tables', `broken${HOSTILE}`, '_delta_log'), { recursive: true })
    writeFileSync(join(folder, 'tables', `broken${HOSTILE}`, '_delta_log', '00000000000000000000.json'), `{"${HOSTILE}`)
  })

  it('names of folders, and what a log and a checkpoint say', async () => {
    for (const words of [['status'], ['status', '--json'], ['history', 'events_copy'], ['history', 'events_copy', '--json']]) {
      expect(await printed(folder, ...words)).toMatch(MARKED)
    }
    expect(await printed(folder, 'status')).toContain('evil\u241b[2J')
    await printed(folder, 'show', 'events_copy')
    await printed(folder, 'run', 'events_copy')
    await printed(folder, 'run', 'events_copy', '--adopt')
    await printed(folder, 'produce', '--all')
  })

  it('a path to it', async () => {
    const inside = join(folder, NAME)
    mkdirSync(inside)
    for (const name of ['checkpoints', 'tables']) renameSync(join(folder, name), join(inside, name))
    for (const words of [['status'], ['status', '--json'], ['run', 'events_copy'], ['show', 'nothing'], ['reset', 'events_copy'], ['drop', 'events_copy']]) {
      await printed(folder, ...words, '--workspace', NAME)
    }
  })
})
