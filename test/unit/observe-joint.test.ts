/** What a look shows of commits over several tables, and of records that are no rows. */
import { rmSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { statusText } from '../../src/commands/status-text.js'
import { type Effects, type Files, realEffects as fx } from '../../src/effects.js'
import type { QueryDefinition } from '../../src/engine/definition.js'
import { Observer, observe } from '../../src/observe/observe.js'
import { OverlaidLog } from '../../src/observe/overlaid-log.js'
import { sentenceOf } from '../../src/observe/sentence.js'
import type { QueryStatus } from '../../src/observe/status.js'
import { LogMemory } from '../../src/observe/table-memory.js'
import { bronzeOrders } from '../../src/queries/bronze-orders.js'
import { columnsFromRows } from '../../src/store/columns-from-rows.js'
import { defineSchema } from '../../src/store/schema.js'
import { Store } from '../../src/store/store.js'
import type { TableWrite } from '../../src/store/write.js'
import { openEmbeddedProducer } from '../../src/topic/embedded-producer.js'
import { deathsOf } from '../stories/deaths.js'
import { type Story, temporaryStories } from '../stories/workspace.js'

const newStory = temporaryStories()
const TABLES = ['left', 'right'] as const
const both = TABLES.map(
  (table): TableWrite => ({ kind: 'append', table, columns: columnsFromRows(defineSchema({ id: 'int' }), [{ id: 7 }]), operation: { kind: 'write' } }),
)

function loseLog(story: Story): void {
  for (const suffix of ['', '-wal', '-shm']) rmSync(story.path('tables', `_log.db${suffix}`), { force: true })
}

/** How many versions a look finds of each table. */
function versionCounts({ folder }: Story, memory?: LogMemory): number[] {
  const log = OverlaidLog.open(folder, fx, memory)
  try {
    return TABLES.map((table) => (log.newestVersion(table) ?? -1) + 1)
  } finally {
    log.close()
  }
}

describe('a commit over two tables', () => {
  it.each([0, 1])('is seen whole or not at all, at each effect of its writer, by tables that have %i versions', async (before) => {
    const story = newStory()
    await story.store(async (store) => {
      for (let version = 0; version < before; version++)
        for (const one of both) if (one.kind === 'append') await store.append(one.table, one.columns, one.operation)
    })
    const memory = new LogMemory()
    const seen = new Set<string>()
    const look = () => {
      seen.add(String(versionCounts(story)))
      seen.add(String(versionCounts(story, memory)))
    }
    const work = async (points: { readonly fx: Effects; point(what: string): void }) => {
      const store = Store.open(story.folder, points.fx)
      await store.commitTogether(both, async (moment) => points.point(moment))
      store.close()
    }

    const deaths = await deathsOf(story, work, look, newStory)

    look()
    expect([...seen]).toEqual([`${before},${before}`, `${before + 1},${before + 1}`])
    for (const { at, story: left } of deaths) {
      // What a stranger is shown is what whoever opens it will have.
      const shown = versionCounts(left)
      await left.store(() => {})
      expect({ at, counts: versionCounts(left) }).toEqual({ at, counts: shown })
    }
  })

  it('is not in a look that began before it', async () => {
    const story = newStory()
    await story.store(async (store) => void (await store.commitTogether(both)))
    const log = OverlaidLog.open(story.folder, fx)
    expect(log.newestVersion('left')).toBe(0)
    await story.store(async (store) => void (await store.commitTogether(both)))
    expect(log.newestVersion('right')).toBe(0)
    log.close()
    expect(versionCounts(story)).toEqual([2, 2])
  })

  it('that is whole is no error while a lost log is built again table by table', async () => {
    const story = newStory()
    await story.store(async (store) => void (await store.commitTogether(both)))
    loseLog(story)
    // Whoever builds it again has come to the first table.
    const list: Files['list'] = (path) => (path === story.path('tables') ? ['left'] : fx.files.list(path))
    Store.open(story.folder, { ...fx, files: { ...fx.files, list } }).close()
    expect((await observe(story.folder, [], fx)).errors).toEqual([])
    expect(versionCounts(story)).toEqual([1, 1])
  })

  it('of which half is lost with the log is an error of the workspace, until the other table is dropped', async () => {
    const story = newStory()
    await story.store((store) => store.append('right', columnsFromRows(defineSchema({ id: 'int' }), [{ id: 1 }]), { kind: 'write' }))
    const create: Files['create'] = (path, ...rest) => {
      if (path.includes('/right/_delta_log/')) throw new Error('died')
      return fx.files.create(path, ...rest)
    }
    const dying = Store.open(story.folder, { ...fx, files: { ...fx.files, create } })
    await expect(dying.commitTogether(both)).rejects.toThrow('died')
    dying.close()
    loseLog(story)
    await story.store((store) => store.newestVersion('left'))
    const observer = new Observer(story.folder, [], fx)

    const { errors } = await observer.observe()

    expect(errors).toMatchObject([
      { code: 'table-damaged', message: expect.stringMatching(/^version 0 of table left is of a commit .* version in right is not there/) },
    ])
    await story.store((store) => store.drop('right'))
    expect((await observer.observe()).errors).toEqual([])
  })
})

describe('records that are no rows', () => {
  async function send(story: Story, ...texts: string[]): Promise<void> {
    const producer = openEmbeddedProducer(story.folder, 'orders', {}, fx)
    await producer.send(texts.map((text) => ({ key: null, value: Buffer.from(text) })))
    await producer.close()
  }

  async function look(observer: Observer): Promise<QueryStatus> {
    return (await observer.observe()).queries[0] as QueryStatus
  }

  async function nineAndOne(): Promise<{ readonly story: Story; readonly observer: Observer }> {
    const story = newStory()
    await story.produce(1, 2)
    await send(story, 'no order')
    await story.produce(3, 4)
    return { story, observer: new Observer(story.folder, [bronzeOrders], fx) }
  }

  const TOLD = '1 record of topic orders is no row and is in bronze_orders_rejected, with where it came from and why'

  it('are not missing: they are counted, and told', async () => {
    const { story, observer } = await nineAndOne()
    expect(await look(observer)).toMatchObject({ rejected: 0, missing: 0, verdict: 'empty' })
    await story.run(bronzeOrders)

    const status = await look(observer)

    expect(status).toMatchObject({ rows: 9, rejected: 1, missing: 0, writtenTwice: 0, verdict: 'exactly-once', reasons: [TOLD] })
    expect(sentenceOf(status)).toBe(`${TOLD}.`)
    const text = statusText(await observe(story.folder, [bronzeOrders], fx), () => null)
    expect(text.replace(/\s+/g, ' ')).toContain(`bronze_orders: ${TOLD}`)
  })

  it('count as written twice where their batch was, and a replay that is skipped is one skip', async () => {
    const { story, observer } = await nineAndOne()
    await story.run(bronzeOrders, { idempotent: false, killAt: 'table-committed' })
    await story.run(bronzeOrders, { idempotent: false })
    expect(await look(observer)).toMatchObject({ rows: 18, rejected: 2, missing: 0, writtenTwice: 10, verdict: 'duplicated', skips: 0 })

    const { story: other, observer: its } = await nineAndOne()
    await other.run(bronzeOrders, { killAt: 'table-committed' })
    await other.run(bronzeOrders)
    expect(await look(its)).toMatchObject({ rows: 9, rejected: 1, writtenTwice: 0, attempts: 2, replays: 1, skips: 1 })
  })

  it('are missing when their table is gone', async () => {
    const { story, observer } = await nineAndOne()
    await story.run(bronzeOrders)
    await look(observer)
    await story.store((store) => store.drop('bronze_orders_rejected'))
    expect(await look(observer)).toMatchObject({ rows: 9, rejected: 0, missing: 1, verdict: 'missing' })
  })

  it('alone are a batch that is written and not committed, before its commit', async () => {
    const story = newStory()
    await send(story, 'no order', 'neither')
    await story.run(bronzeOrders, { killAt: 'version-linked' })
    const shown = await look(new Observer(story.folder, [bronzeOrders], fx))
    expect(shown).toMatchObject({ rows: 0, rejected: 2, missing: 0, step: 'version-linked', state: 'killed' })
  })

  it('are not known of a query that nobody told of, and are none of one that has no such table', async () => {
    const { story } = await nineAndOne()
    await story.run(bronzeOrders)
    const rejectedOf = async (queries: readonly QueryDefinition[]) => (await observe(story.folder, queries, fx)).queries.map(({ rejected }) => rejected)
    expect(await rejectedOf([])).toEqual([null])
    expect(await rejectedOf([{ ...bronzeOrders, rejectedTable: null }])).toEqual([0])
  })
})
