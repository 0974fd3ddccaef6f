/**
 * A workspace in which one file is damaged at a time, and what streamtop says of it and does with it. The workspace is made by the
 * real write path and has work left for each of its queries, so that a file that is misread would show in the rows.
 */
import { cpSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { realEffects as fx } from '../../src/effects.js'
import { asStreamtopError } from '../../src/errors.js'
import { foreachBatch, query, type QueryDefinition, table } from '../../src/engine/definition.js'
import { observe } from '../../src/observe/observe.js'
import type { Status, StatusError } from '../../src/observe/status.js'
import { readTable } from '../../src/observe/read-table.js'
import { bronzeOrders } from '../../src/queries/bronze-orders.js'
import { eventsCopy } from '../../src/queries/events-copy.js'
import { orders } from '../../src/queries/orders.js'
import { rowsOf } from '../../src/store/values.js'
import { openEmbeddedProducer } from '../../src/topic/embedded-producer.js'
import { sparkWorkspace } from '../spark-fixtures.js'
import { newStory, type Story } from '../stories/workspace.js'

/** Both halves of a batch in one commit. */
const halves = query(
  'halves',
  table('bronze_orders'),
  foreachBatch(async (batch) => {
    const txn = { txnAppId: batch.appId, txnVersion: batch.id }
    await batch.commitTogether([
      { append: 'even', rows: batch.filter((row) => Number(row['order_id']) % 2 === 0), ...txn },
      { append: 'odd', rows: batch.filter((row) => Number(row['order_id']) % 2 === 1), ...txn },
    ])
  }),
  { table: 'even', alsoWrites: ['odd'], idempotent: true, holds: 'unknown' },
)

/** What is damaged: its queries, and the files in which a flipped bit may not be noticed because nothing could tell it. */
export interface Subject {
  readonly name: string
  readonly queries: readonly QueryDefinition[]
  readonly tables: readonly string[]
  /** The queries that read or write what a file belongs to. */
  queriesBeside(file: string): readonly QueryDefinition[]
  isTrusted(file: string): boolean
}

const QUERIES = [bronzeOrders, eventsCopy, orders, halves] as const

/** SQLite notices damage to a database's structure, and not another value in a row; the ledger's rows have no checksum. */
const HALF_CHECKED = 'tables/_log.db'

export const OWN: Subject = {
  name: 'streamtop',
  queries: QUERIES,
  tables: [...new Set(QUERIES.flatMap(({ writes }) => writes))],
  queriesBeside: (file) => queriesBeside(QUERIES, file),
  isTrusted: (file) => file === HALF_CHECKED,
}

/** A checksum is in the pages of Spark's data files; its logs and the footers of its files have none of their own. */
export const SPARK: Subject = {
  name: 'Spark',
  queries: [eventsCopy],
  tables: ['bronze_orders', 'events_copy'],
  queriesBeside: () => [eventsCopy],
  isTrusted: () => true,
}

function queriesBeside(queries: readonly QueryDefinition[], file: string): readonly QueryDefinition[] {
  const [top, name = ''] = file.split('/')
  if (top === 'checkpoints' || top === '.locks') return queries.filter((query) => query.name === name || `${query.name}.db` === name)
  if (top !== 'tables' || name.startsWith('_')) return queries
  return queries.filter(({ source, writes }) => writes.includes(name) || (source.kind === 'table' && source.name === name))
}

/** A batch that is logged and was not run, as Spark left it. */
export function sparkWorkspaceWithWork(): Story {
  const story = newStory()
  cpSync(sparkWorkspace('third-batch-pending'), story.folder, { recursive: true })
  rmSync(story.path('expected.json'))
  return story
}

/** Two batches of each query, all committed; a third that each died in at another step; and records that nobody has read. */
export async function workspaceWithWork(): Promise<Story> {
  const story = newStory()
  for (const part of [1, 2]) {
    await story.produce(part)
    if (part === 1) await sendNoOrder(story)
    for (const definition of QUERIES) await story.run(definition, { idempotent: true })
  }
  await story.produce(3)
  await story.run(bronzeOrders, { killAt: 'table-committed' })
  await story.run(eventsCopy, { idempotent: true, killAt: 'table-committed' })
  await story.run(orders, { killAt: 'files-written' })
  await story.run(halves, { killAt: 'version-linked' })
  await story.produce(4)
  await sendNoOrder(story)
  return story
}

async function sendNoOrder({ folder }: Story): Promise<void> {
  const producer = openEmbeddedProducer(folder, 'orders', {}, fx)
  await producer.send([{ key: null, value: Buffer.from('no order') }])
  await producer.close()
}

/** The rows of a table in no order, as texts; null when there is no such table. */
export type Rows = readonly string[] | null

/** What a reader is told: the answers, and the errors beside them. */
export interface Told {
  readonly answers: Readonly<Record<string, unknown>>
  readonly errors: readonly Named[]
}

/** An error as it reaches a person. One that has a code of its own and says what to do is named. */
export interface Named {
  readonly code: string
  readonly message: string
  readonly isNamed: boolean
}

/** What `status` and `show` say of a workspace: the answers by what was asked. */
export async function told({ queries, tables }: Subject, folder: string): Promise<Told> {
  const answers: Record<string, unknown> = {}
  const errors: Named[] = []
  const ask = async (what: string, answer: () => Promise<unknown>) => {
    try {
      answers[what] = await answer()
    } catch (error) {
      errors.push(named(error))
    }
  }
  await ask('status', async () => {
    const status = await observe(folder, queries, fx)
    errors.push(...errorsIn(status).map(named))
    return answersIn(status)
  })
  for (const name of tables) await ask(`show ${name}`, () => shown(folder, name))
  return { answers, errors }
}

/** Errors stand for what is unknown. Left out is what merely explains, and what is shown of a checkpoint's files as it stands there. */
function answersIn({ topics, queries, tables }: Status): unknown {
  return {
    topics,
    queries: queries.map(({ name, batchId, offsets, commits, lag, rows, distinct, missing, verdict, rejected }) => {
      return { name, batchId, offsets, commits, lag, rows, distinct, missing, verdict, rejected }
    }),
    tables: tables.map(({ name, id, version, rows, distinct, files }) => ({ name, id, version, rows, distinct, files })),
  }
}

function errorsIn({ errors, queries, tables }: Status): StatusError[] {
  return [...errors, ...queries.flatMap(({ lastError }) => lastError ?? []), ...tables.flatMap(({ error }) => error ?? [])]
}

export function named(error: unknown): Named {
  const { code, message, hint } = error instanceof Error ? asStreamtopError(error) : (error as StatusError)
  return { code, message, isNamed: code !== 'internal' && Boolean(hint) }
}

async function shown(folder: string, name: string): Promise<Rows> {
  const columns = await readTable(folder, name, fx)
  return columns && asTexts(rowsOf(columns))
}

function asTexts(rows: Iterable<Readonly<Record<string, unknown>>>): string[] {
  return [...rows].map((row) => JSON.stringify(row, (_, value) => (typeof value === 'bigint' ? String(value) : value))).sort()
}

/** Runs queries in their order, until they are caught up. Throws what the first one failed with. */
export async function runAll(story: Story, definitions: readonly QueryDefinition[]): Promise<void> {
  for (const definition of definitions) await story.run(definition, { idempotent: true })
}

/** The rows of all tables. */
export async function rowsOfAll({ tables }: Subject, folder: string): Promise<Readonly<Record<string, Rows>>> {
  const found: Record<string, Rows> = {}
  for (const name of tables) found[name] = await shown(folder, name)
  return found
}

/** Every file of a workspace by its path, but for SQLite's shared memory, which holds no data. */
export function filesOf(folder: string): string[] {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true })
  return entries
    .filter((entry) => entry.isFile() && !entry.name.endsWith('-shm'))
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1))
    .sort()
}

/** Where an answer differs from the expected one; null when it does not. What is not known is no wrong answer, if the whole is not. */
export function differenceOf(expected: unknown, found: unknown): string | null {
  if (typeof expected !== 'object' || expected === null || typeof found !== 'object' || found === null || Array.isArray(expected) !== Array.isArray(found)) {
    return JSON.stringify(expected) === JSON.stringify(found) ? null : `${short(found)} instead of ${short(expected)}`
  }
  for (const key of new Set([...Object.keys(expected), ...Object.keys(found)])) {
    const [left, right] = [(expected as Record<string, unknown>)[key], (found as Record<string, unknown>)[key]]
    if (right === null && UNKNOWN_MAY_BE_NULL.has(key)) continue
    const difference = differenceOf(left, right)
    if (difference !== null) return `${key}: ${difference}`
  }
  return null
}

const UNKNOWN_MAY_BE_NULL: ReadonlySet<string> = new Set(['lag', 'missing', 'verdict', 'rows', 'distinct', 'rejected'])

function short(value: unknown): string {
  return (JSON.stringify(value) ?? 'nothing').slice(0, 200)
}

/** A folder made the same as another. */
export function makeSame(from: string, to: string): void {
  rmSync(to, { recursive: true, force: true })
  cpSync(from, to, { recursive: true })
}

export type Damage = { readonly kind: 'cut'; readonly at: number } | { readonly kind: 'flip'; readonly at: number; readonly bit: number }

export function damaged(bytes: Buffer, damage: Damage): Buffer {
  if (damage.kind === 'cut') return bytes.subarray(0, damage.at)
  const copy = Buffer.from(bytes)
  copy[damage.at] = (copy[damage.at] as number) ^ (1 << damage.bit)
  return copy
}

/** Damages a file; what is given back restores it. */
export function damageFile(folder: string, file: string, damage: Damage): () => void {
  const path = join(folder, file)
  const bytes = readFileSync(path)
  writeFileSync(path, damaged(bytes, damage))
  return () => writeFileSync(path, bytes)
}
