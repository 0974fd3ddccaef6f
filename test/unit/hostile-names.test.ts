/**
 * Names and paths that lead elsewhere: words on the command line and in a config, folders that are symbolic links, files that a foreign
 * log names. Each is refused by name, and nothing outside of the workspace is read, made or removed. And keys that JavaScript gives
 * a meaning of its own are keys like any other.
 */
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, beforeEach, describe, expect, test } from 'vitest'
import { realEffects as fx } from '../../src/effects.js'
import { append, query, table, topic } from '../../src/engine/definition.js'
import { columnsFromRows } from '../../src/store/columns-from-rows.js'
import { defineSchema } from '../../src/store/schema.js'
import { Store } from '../../src/store/store.js'
import { commandHere } from '../command-here.js'
import { sparkWorkspace } from '../spark-fixtures.js'
import { temporaryStories } from '../stories/workspace.js'

const NAMES = [
  '',
  '.',
  '..',
  '../out',
  '/etc',
  'a/b',
  'a\\b',
  'a..b',
  '.hidden',
  '-rf',
  'a b',
  'a\u0000b',
  'a\nb',
  "a'b",
  'a;--',
  '%2e%2e',
  'ä',
  'a'.repeat(129),
  '~',
  '$HOME',
]

const outer: string[] = []
let folder: string
/** Beside the workspace: what must not change. */
let secret: string
afterAll(() => {
  for (const path of outer) rmSync(path, { recursive: true, force: true })
})
beforeEach(() => {
  const root = mkdtempSync(join(tmpdir(), 'streamtop-names-'))
  outer.push(root)
  folder = join(root, 'workspace')
  cpSync(sparkWorkspace('plain-append-twice'), folder, { recursive: true })
  secret = join(root, 'secret')
  cpSync(join(folder, 'tables', 'events_copy'), secret, { recursive: true })
})

/** Every file beside the workspace. */
function outside(): Record<string, string> {
  const entries = readdirSync(secret, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())
  return Object.fromEntries(entries.map((entry) => [join(entry.parentPath, entry.name), readFileSync(join(entry.parentPath, entry.name), 'latin1')]))
}

async function codeOf(...words: string[]): Promise<string | null> {
  const { exitCode, stderr } = await commandHere(folder, [...words, '--json'])
  return exitCode === 0 ? null : (JSON.parse(stderr) as { error: { code: string } }).error.code
}

describe('names', () => {
  beforeEach(() => {
    // One of streamtop's own: in another's the name would not even be looked at.
    rmSync(folder, { recursive: true })
    mkdirSync(join(folder, '.locks'), { recursive: true })
  })

  test.each(NAMES)('%j is no name of a query, a table or a topic', async (name) => {
    const before = readdirSync(dirname(folder)).sort()
    for (const words of [
      ['show', name],
      ['history', name],
      ['drop', name],
      ['reset', name],
      ['replay', name],
      ['run', name],
      ['produce', '--all', '--topic', name],
      ['status', '--topic', name],
    ]) {
      // A word that begins with a dash is an option to the command line.
      expect(['bad-name', 'unknown-query', 'usage'], words.join(' ')).toContain(await codeOf(...words))
    }
    for (const make of [
      () => topic(name),
      () => table(name),
      () => append(name),
      () => query(name, table('t'), append('t')),
      () => query('q', table('t'), append(name)),
    ]) {
      expect(make).toThrow(expect.objectContaining({ code: 'bad-name' }))
    }
    expect(readdirSync(dirname(folder)).sort()).toEqual(before)
  })

  test.each(['__proto__', 'constructor', 'toString', 'a.b', '0'])('%s is a name like any other', async (name) => {
    const store = Store.open(folder, fx)
    try {
      const schema = defineSchema({ [name]: 'string' })
      await store.append(
        name,
        columnsFromRows(schema, [Object.fromEntries([[name, 'x']])]),
        { kind: 'write' },
        { txn: { appId: name, version: 0 }, onSkip: () => ({ leftOutRows: 0, reason: '' }) },
      )
      expect([...(store.snapshot(name)?.txns.keys() ?? [])]).toEqual([name])
    } finally {
      store.close()
    }
    const { stdout } = await commandHere(folder, ['show', name, '--json'])
    expect(stdout).toContain(`"${name}": "x"`)
    const status = JSON.parse((await commandHere(folder, ['status', '--json'])).stdout) as { tables: { name: string; rows: number }[] }
    expect(status.tables.find((one) => one.name === name)).toMatchObject({ rows: 1 })
    expect(({} as Record<string, unknown>)['x']).toBeUndefined()
  })
})

describe('a table that is a symbolic link', () => {
  test('is neither read, written nor dropped, and the others do not suffer', async () => {
    rmSync(join(folder, 'tables', 'events_copy'), { recursive: true })
    symlinkSync(secret, join(folder, 'tables', 'events_copy'))
    const before = outside()
    expect(await codeOf('show', 'events_copy')).toBe('unsupported-feature')
    expect(await codeOf('history', 'events_copy')).toBe('unsupported-feature')
    expect(await codeOf('show', 'bronze_orders')).toBeNull()
    const { stdout } = await commandHere(folder, ['status', '--json'])
    expect(stdout).toContain('is a symbolic link: a table is read and written only where it lies')
    const store = Store.open(folder, fx)
    try {
      await expect(store.append('events_copy', columnsFromRows(defineSchema({ a: 'int' }), [{ a: 1 }]), { kind: 'write' })).rejects.toMatchObject({
        code: 'unsupported-feature',
      })
      expect(() => store.drop('events_copy')).toThrow(expect.objectContaining({ code: 'unsupported-feature' }))
    } finally {
      store.close()
    }
    expect(outside()).toEqual(before)
  })
})

describe('a file that a foreign log names', () => {
  const name = () => readdirSync(secret).find((one) => one.endsWith('.parquet')) ?? ''

  test.each<[string, () => string]>([
    ['a way up', () => `../../../secret/${name()}`],
    ['a way up in the middle', () => `a/../../../../secret/${name()}`],
    ['a way up that is escaped', () => `%2e%2e/%2e%2e/%2e%2e/secret/${name()}`],
    ['a whole path', () => join(secret, name())],
    ['an address', () => `file://${join(secret, name())}`],
    ['an address with one slash', () => `file:${join(secret, name())}`],
    ['an address of another store', () => `s3://bucket/${name()}`],
    ['the table itself', () => '.'],
    ['the folder above', () => '..'],
  ])('by %s is not read, merged into or removed', async (_, path) => {
    const log = join(folder, 'tables', 'events_copy', '_delta_log', '00000000000000000001.json')
    const actions = readFileSync(log, 'utf8')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { add?: { path: string } })
    for (const { add } of actions) if (add) add.path = path()
    writeFileSync(log, actions.map((action) => `${JSON.stringify(action)}\n`).join(''))
    const before = outside()
    expect(await codeOf('show', 'events_copy')).toBe('unsupported-feature')
    expect((await commandHere(folder, ['status', '--json'])).stdout).toMatch(/which is (outside of|not on this machine)/)
    expect(['unsupported-feature', 'table-damaged', null]).toContain(await codeOf('vacuum', 'events_copy', '--older-than', '0s', '--force', '--adopt'))
    expect(outside()).toEqual(before)
    expect(existsSync(join(folder, 'tables', 'bronze_orders'))).toBe(true)
  })

  test('by a whole path in a table beside it is read: so a clone without files of its own is made', async () => {
    const clone = join(folder, 'tables', 'clone')
    mkdirSync(join(clone, '_delta_log'), { recursive: true })
    const versions = readdirSync(join(folder, 'tables', 'events_copy', '_delta_log')).filter((one) => one.endsWith('.json'))
    for (const version of versions) {
      const text = readFileSync(join(folder, 'tables', 'events_copy', '_delta_log', version), 'utf8')
      writeFileSync(join(clone, '_delta_log', version), text.replaceAll('"path":"', `"path":"${join(folder, 'tables', 'events_copy')}/`))
    }
    expect(await codeOf('show', 'clone')).toBeNull()
  })
})

describe('keys', () => {
  const begin = temporaryStories()

  test('of records, a config and options are keys, whatever they are called', async () => {
    const story = begin()
    const value = '{"__proto__":{"polluted":true},"constructor":{"prototype":{"polluted":true}},"order_id":1,"event_time":"2026-10-01T09:15:00Z"}'

    writeFileSync(story.path('lines.txt'), `__proto__\t${value}\n`)
    expect(await commandHere(story.folder, ['produce', '--from', story.path('lines.txt')])).toMatchObject({ exitCode: 0 })
    const { bronzeOrders } = await import('../../src/queries/bronze-orders.js')
    await story.run(bronzeOrders)
    expect(await story.rows('bronze_orders')).toMatchObject([{ order_id: 1 }])
    await expect(story.run(bronzeOrders, { sourceOptions: ['__proto__=1'] })).rejects.toMatchObject({ code: expect.stringMatching(/usage|bad-config/) })
    for (const made of [{}, [], () => {}]) expect((made as unknown as Record<string, unknown>)['polluted']).toBeUndefined()
  })
})
