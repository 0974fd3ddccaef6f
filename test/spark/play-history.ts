/** Plays a history twice, once with Spark in it and once with streamtop alone, and compares what both leave wherever they come to rest. */
import { cpSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import { openChecker, type OtherEngine, type Promised } from '../checker.mjs'
import { BRONZE, COPY } from '../nine-events.js'
import type { Base, Bases } from './bases.js'
import { SPARK_FOLDER } from './fetch.js'
import { readCheckpoint, readRows, readVersions, sortedLines } from './found-on-disk.js'
import { type Death, describeMoves, type History, isCompared, type Move, MERGE, NATIVE, PLAIN } from './histories.js'
import { bronzeRows, GROUP_SIZE, newestRows, type SeededRecord, sentOf } from './orders-of-a-seed.js'
import type { SparkWorker, TextRow } from './spark-worker.js'
import { streamtop } from './streamtop-command.js'
import { ToldByMoves } from './told-by-moves.js'

/** One comparison that held, for the page. */
export interface Compared {
  readonly history: History
  readonly moves: readonly Move[]
  readonly rows: number
  readonly distinct: number
  readonly batches: number
  readonly versions: number
  readonly versionsBySpark: number
  /** Names of the differences that are known and have a reason. */
  readonly differences: readonly string[]
}

export interface Stage {
  readonly bases: Bases
  readonly spark: SparkWorker
  readonly dist: string
}

/** A MERGE that changes nothing is a version in Delta and none in streamtop. */
export const UNCHANGED_MERGE = 'no version: unchanged MERGE'

/**
 * Plays and compares. Throws what differs without a known reason; both workspaces are then kept in `.spark/failed/`.
 * @returns the comparisons, in order
 */
export async function playHistory(history: History, stage: Stage): Promise<Compared[]> {
  const { bases } = stage
  const { query } = history.way
  const base = await bases.get(history.base)
  const mixed = await sideOf(bases.copy(base.folder))
  const told = new ToldByMoves(history, {
    files: readVersions(mixed.folder, 'bronze_orders').length,
    versions: readVersions(mixed.folder, query).length,
    batches: readCheckpoint(mixed.folder, query).commits.length,
  })
  let own: Side | null = null
  let taken = base.taken
  let firstOwnVersion = 0
  const compared: Compared[] = []
  try {
    for (const [at, move] of history.moves.entries()) {
      if (own === null && move.kind === 'run' && move.by === 'Spark') {
        own = await sideOf(bases.copy(mixed.folder))
        firstOwnVersion = readVersions(own.folder, query).length
      }
      if (move.kind === 'more') taken += GROUP_SIZE
      await Promise.all([make(move, history, mixed.folder, stage), ...(own === null ? [] : [make(byStreamtop(move), history, own.folder, stage)])])
      told.make(move)
      if (own === null || !isCompared(history, at)) continue
      compared.push(await compare(history, at, mixed.folder, own.folder, base, taken))
      const where = describeMoves(history.moves.slice(0, at + 1))
      expect(await mixed.checker.check(promised(history, base, move, told.ofSpark)), `${where}: the checker`).toEqual([])
      expect(await own.checker.check(promised(history, base)), `${where}, by streamtop alone: the checker`).toEqual([])
    }
    if (own === null) throw new Error('Spark has no part in this history')
    await readAlike(mixed.folder, query, 0, stage)
    await readAlike(own.folder, query, firstOwnVersion, stage)
    return compared
  } catch (error) {
    const name = `${history.way.title} ${history.title}`.replace(/[^a-z0-9]+/gi, '-')
    cpSync(mixed.folder, join(SPARK_FOLDER, 'failed', name, 'mixed'), { recursive: true })
    if (own) cpSync(own.folder, join(SPARK_FOLDER, 'failed', name, 'own'), { recursive: true })
    throw error
  } finally {
    for (const { folder, checker } of own ? [mixed, own] : [mixed]) {
      checker.close()
      bases.remove(folder)
    }
  }
}

/** A workspace with the checker that remembers it. */
interface Side {
  readonly folder: string
  readonly checker: Awaited<ReturnType<typeof openChecker>>
}

async function sideOf(folder: string): Promise<Side> {
  return { folder, checker: await openChecker(folder) }
}

async function make(move: Move, history: History, workspace: string, { bases, spark, dist }: Stage): Promise<void> {
  const { way, sourceOptions } = history
  if (move.kind === 'more') return bases.more(workspace)
  if (move.by === 'streamtop') {
    const options = Object.entries(sourceOptions).flatMap(([key, value]) => ['--option', `${key}=${value}`])
    const idempotent = way.isIdempotent ? '--idempotent' : '--no-idempotent'
    // Spark can die before or after its write; these are the steps that leave the same.
    const step = move.death === 'before-write' ? 'rows-read' : move.death === 'after-write' ? 'table-committed' : move.death
    // A step that is not reached ends with 1, and so does anything else that is not as asked.
    await streamtop(dist, workspace, 'run', way.query, idempotent, ...options, ...(step === null ? [] : ['--crash-at', step]))
    return
  }
  const die = sparkDeath(move.death)
  const answer = await spark.stream({
    workspace,
    query: way.spark,
    name: way.query,
    source: 'bronze_orders',
    sink: way.query,
    ...(way.where === undefined ? {} : { where: way.where }),
    idempotent: way.isIdempotent,
    appId: way.query,
    options: sourceOptions,
    die,
  })
  expect(answer, describeMoves([move])).toEqual({ died: die !== null, error: null })
}

function byStreamtop(move: Move): Move {
  return move.kind === 'run' ? { ...move, by: 'streamtop' } : move
}

function sparkDeath(death: Death | null): 'before-write' | 'after-write' | null {
  if (death === null || death === 'before-write' || death === 'after-write') return death
  throw new Error(`Spark cannot die at ${death}`)
}

async function compare(history: History, at: number, mixed: string, own: string, base: Base, taken: number): Promise<Compared> {
  const moves = history.moves.slice(0, at + 1)
  const { query } = history.way
  const [found, wanted] = [await lookAt(mixed, query), await lookAt(own, query)]
  const where = describeMoves(moves)
  expect(found.facts, where).toEqual(wanted.facts)
  expect(wanted.unchangedMerges, `${where}: a MERGE of streamtop that changes nothing makes no version`).toBe(0)
  expectTrue(found.rows, moves, history, base.records.slice(0, taken), where)

  const lines = sortedLines(found.rows)
  const versions = readVersions(mixed, query)
  return {
    history,
    moves,
    rows: lines.length,
    distinct: new Set(lines).size,
    batches: found.facts.commits.length,
    versions: versions.length,
    versionsBySpark: versions.filter(({ engine }) => engine === 'spark').length,
    differences: found.unchangedMerges > 0 ? [UNCHANGED_MERGE] : [],
  }
}

async function lookAt(workspace: string, query: string) {
  const checkpoint = readCheckpoint(workspace, query)
  const versions = readVersions(workspace, query)
  const txns: Record<string, number> = {}
  const operations: string[] = []
  let rows: TextRow[] = []
  let lines: string[] = []
  let unchangedMerges = 0
  for (const [version, { operation, txns: written }] of versions.entries()) {
    // The native sink's application is the query, whose id each checkpoint has of its own.
    for (const { appId, version: batch } of written) txns[appId === checkpoint.id ? 'the query' : appId] = batch
    const before = lines
    rows = await readRows(workspace, query, version)
    lines = sortedLines(rows)
    if (operation === 'MERGE' && version > 0 && sameLines(before, lines)) unchangedMerges++
    else operations.push(operation)
  }
  const { offsets, commits } = checkpoint
  return { rows, unchangedMerges, facts: { lines, distinct: new Set(lines).size, offsets, commits, txns, operations } }
}

function sameLines(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((line, i) => line === b[i])
}

/** What the checker is told where a history comes to rest; with the newest move and what Spark did where it has a part. */
function promised({ way }: History, base: Base, newest?: Move, ofSpark?: OtherEngine): Promised {
  const query = {
    ...COPY,
    name: way.query,
    table: way.query,
    ...(way.where === undefined ? {} : { where: way.where }),
    holds: way === MERGE ? 'newest-of-each-order' : 'every-row',
    exactlyOnce: way.isIdempotent,
    isUnhealed: newest?.kind === 'run' && newest.by === 'Spark',
    ...(ofSpark === undefined ? {} : { other: ofSpark }),
  } as const
  return { topic: 'orders', sent: base.records.map(sentOf), queries: [{ ...BRONZE, caughtUp: false }, query] }
}

/** Against what must be there by the records alone: both engines might be wrong in the same way. */
function expectTrue(rows: readonly TextRow[], moves: readonly Move[], { way, base }: History, records: readonly SeededRecord[], where: string): void {
  if (way === MERGE) {
    expect(sortedLines(rows), where).toEqual(sortedLines(newestRows(records)))
    return
  }
  const all = bronzeRows(records)
  const wanted = sortedLines(way === NATIVE ? all.filter((row) => row[2] === 'placed') : all)
  const found = sortedLines(rows.map((row) => row.slice(0, -1)))
  if (way !== PLAIN) {
    expect(found, where).toEqual(wanted)
    return
  }
  expect([...new Set(found)], where).toEqual(wanted)
  const wasWritten: readonly (Death | null)[] = ['version-linked', 'table-committed', 'after-write']
  const isTwice = base === 'walk-through-plain' || moves.some((move) => move.kind === 'run' && wasWritten.includes(move.death))
  expect(found.length > wanted.length, `${where}: rows are there twice exactly when a run died after its write`).toBe(isTwice)
}

/** Spark, delta-rs and streamtop read the same rows of each version. */
async function readAlike(workspace: string, table: string, from: number, { spark }: Stage): Promise<void> {
  const count = readVersions(workspace, table).length
  const versions = Array.from({ length: count - from }, (_, number) => from + number)
  const path = join(workspace, 'tables', table)
  const [bySpark, byDeltaRs] = await Promise.all([spark.read(path, versions), spark.readDeltaRs(path, versions)])
  for (const version of versions) {
    const lines = sortedLines(await readRows(workspace, table, version))
    expect(sortedLines(bySpark[version] ?? []), `Spark reads version ${version} of ${table}`).toEqual(lines)
    expect(sortedLines(byDeltaRs[version] ?? []), `delta-rs reads version ${version} of ${table}`).toEqual(lines)
  }
}
