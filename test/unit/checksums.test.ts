/** What tells that bytes have changed: the checksum of a version's text, of a data file, of other writers' pages; and a database that was cut. */
import Database from 'better-sqlite3'
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { asStreamtopError } from '../../src/errors.js'
import { realEffects } from '../../src/effects.js'
import { observe } from '../../src/observe/observe.js'
import { bronzeOrders } from '../../src/queries/bronze-orders.js'
import { orders } from '../../src/queries/orders.js'
import { columnsFromRows } from '../../src/store/columns-from-rows.js'
import { decodeParquet, encodeParquet } from '../../src/store/parquet.js'
import { defineSchema } from '../../src/store/schema.js'
import { formatVersion, parseVersion } from '../../src/store/version-text.js'
import { sparkWorkspace } from '../spark-fixtures.js'
import { temporaryStories } from '../stories/workspace.js'

const commitInfo = { operation: 'WRITE', note: '"textCrc32":"ffffffff"}}' }
const txns = [{ appId: 'a', version: 1, lastUpdatedMs: 1 }]
const TEXT = formatVersion({ commitInfo, metadata: null, protocol: null, txns, adds: [], removes: [] })

describe("a version's text", () => {
  test('says its checksum, also when it is made again from what was read', () => {
    const actions = parseVersion(TEXT, 'here')
    expect(actions).toMatchObject({ commitInfo, txns })
    expect(formatVersion(actions)).toBe(TEXT)
    expect(TEXT.split('\n')[0]).toMatch(/,"textCrc32":"[\da-f]{8}"\}\}$/)
  })

  test('cut anywhere, or with another character anywhere, is refused or says the same', () => {
    for (let length = 0; length < TEXT.length; length++) {
      expect(() => parseVersion(TEXT.slice(0, length), 'here')).toThrow(/^here(, line \d)? is (empty|not what was committed|not an action)/)
    }
    const said = JSON.stringify(withoutCommitInfo(TEXT))
    for (let at = 0; at < TEXT.length; at++) {
      const changed = TEXT.slice(0, at) + String.fromCharCode(TEXT.charCodeAt(at) ^ 1) + TEXT.slice(at + 1)
      let found: unknown
      try {
        found = withoutCommitInfo(changed)
      } catch (error) {
        expect(error).toMatchObject({ code: 'table-damaged', hint: expect.any(String) })
        continue
      }
      expect([at, JSON.stringify(found)]).toEqual([at, said])
    }
  })

  test("another writer's has none, and is read as it stands", () => {
    expect(parseVersion('{"commitInfo":{"operation":"WRITE"}}\n{"txn":{"appId":"a","version":1}}\n', 'there').txns).toHaveLength(1)
  })
})

function withoutCommitInfo(text: string): unknown {
  return { ...parseVersion(text, 'here'), commitInfo: null }
}

describe('a data file', () => {
  const schema = defineSchema({ id: 'int', note: 'string', 'streamtop.crc32': 'string' })
  const rows = Array.from({ length: 40 }, (_, id) => ({ id, note: `note ${id % 7}`, 'streamtop.crc32': 'streamtop.crc32' }))

  test('of streamtop with any bit flipped is refused, or has the same rows', { timeout: 120_000 }, async () => {
    const bytes = await encodeParquet(columnsFromRows(schema, rows))
    const same = await decodeParquet(bytes, schema)
    let refused = 0
    for (let at = 0; at < bytes.length; at += 3) {
      const changed = Uint8Array.from(bytes)
      changed[at] = (changed[at] as number) ^ (1 << (at & 7))
      const found = await decodeParquet(changed, schema).catch((error: unknown) => error)
      if (found instanceof Error) refused++
      else expect([at, found]).toEqual([at, same])
    }
    expect(refused).toBeGreaterThan(bytes.length / 3 - 40)
  })

  test('of Spark with a bit flipped in a page is refused: its pages have checksums', async () => {
    const folder = join(sparkWorkspace('plain-append-twice'), 'tables', 'bronze_orders')
    const bytes = readFileSync(join(folder, readdirSync(folder).find((name) => name.endsWith('.parquet')) ?? ''))
    const customers = defineSchema({ customer_id: 'string' })
    const same = await decodeParquet(bytes, customers)
    const at = bytes.indexOf('C01')
    expect(at).toBeGreaterThan(0)
    bytes[at + 2] = (bytes[at + 2] as number) ^ 2
    await expect(decodeParquet(bytes, customers)).rejects.toMatchObject({
      code: 'table-damaged',
      message: expect.stringContaining('checksum of column customer_id'),
    })
    bytes[at + 2] = (bytes[at + 2] as number) ^ 2
    expect(await decodeParquet(bytes, customers)).toEqual(same)
  })
})

describe('a database', () => {
  const begin = temporaryStories()

  test.each([
    ['a path', "UPDATE files SET path = replace(path, 'part-00000', 'part-00001') WHERE added_version = 1"],
    ['statistics', `UPDATE files SET statistics = replace(statistics, '"numRecords":2', '"numRecords":3') WHERE added_version = 1`],
    ['a file that is live no more', 'UPDATE files SET removed_version = 1 WHERE added_version = 0'],
    ['a file that is live too late', 'UPDATE files SET added_version = 9 WHERE added_version = 0'],
    ['a file that is gone', 'DELETE FROM files WHERE added_version = 0'],
    ['the columns', "UPDATE shapes SET metadata = replace(metadata, 'customer_id', 'customer_ie')"],
    ['the text of a version', "UPDATE versions SET text = replace(text, 'numRecords', 'numRecordt') WHERE version = 1"],
    ['a txn', 'UPDATE txns SET version = 0'],
  ])('another value in a row of _log.db, %s, is refused by name; deleted, it is built again', async (_, damage) => {
    const story = begin()
    for (const part of [1, 2] as const) {
      await story.produce(part)
      await story.run(bronzeOrders)
    }
    await story.run(orders)
    const database = new Database(story.path('tables/_log.db'))
    database.exec(damage)
    database.close()
    const goOn = async () => {
      await story.run(bronzeOrders)
      await story.run(orders)
      await story.rows('bronze_orders')
      await story.store((store) => store.changes('bronze_orders', 1))
    }
    await story.produce(3)
    await expect(goOn()).rejects.toMatchObject({ code: 'table-damaged', message: expect.stringMatching(/_log\.db is damaged|is not what was committed/) })
    for (const suffix of ['', '-wal', '-shm']) rmSync(story.path(`tables/_log.db${suffix}`), { force: true })
    await goOn()
    await story.expectSound()
  })

  test.each([
    ['topics.db', 'data-loss'],
    ['tables/_log.db', 'table-damaged'],
  ])('%s cut anywhere is refused by name: SQLite would read the rest of a page as zeros', async (file, code) => {
    const story = begin()
    await story.produce(1)
    await story.run(bronzeOrders)
    await story.produce(2)
    const whole = readFileSync(story.path(file))
    for (const left of [1, 100, 1_000, 4_095, 4_096, 5_000]) {
      writeFileSync(story.path(file), whole.subarray(0, whole.length - left))
      await expect(story.run(bronzeOrders).then(() => left)).rejects.toSatisfy((error: unknown) => asStreamtopError(error).code === code)
    }
    writeFileSync(story.path(file), whole)
    await story.run(bronzeOrders)
    await story.expectSound()
  })

  test('topics.db cut within its first page is no workspace without topics', async () => {
    const story = begin()
    await story.produce(1)
    const path = story.path('topics.db')
    writeFileSync(path, readFileSync(path).subarray(0, 47))
    const { topics, errors } = await observe(story.folder, [bronzeOrders], realEffects)
    expect([topics, errors.map(({ code }) => code)]).toEqual([[], ['data-loss']])
  })

  // The number of SQLite's schema format: what does not know it does not say that the file is damaged.
  const FORMAT_AT = 47

  test.each([
    ['topics.db', 'data-loss'],
    ['tables/_log.db', 'table-damaged'],
    ['.locks/bronze_orders.db', 'checkpoint-damaged'],
  ])('%s of a format that no SQLite has is refused by name', async (file, code) => {
    const story = begin()
    await story.produce(1)
    await story.run(bronzeOrders)
    const whole = readFileSync(story.path(file))
    whole[FORMAT_AT] = 5
    writeFileSync(story.path(file), whole)
    await story.produce(2).catch(() => {})
    await expect(story.run(bronzeOrders)).rejects.toSatisfy((error: unknown) => asStreamtopError(error).code === code)
  })
})
