/** The workspace service in the thread that calls it. One request at a time: each waits for those before it. */
import type { Effects } from '../effects.js'
import type { QueryDefinition } from '../engine/definition.js'
import { dropTables, tablesOf } from '../engine/drop-table.js'
import { acquireDashboardLock, type QueryLock } from '../engine/lock.js'
import { replayNewestBatch, resetQuery } from '../engine/reset.js'
import { checkWorkspace, isForeign } from '../engine/workspace.js'
import { StreamtopError } from '../errors.js'
import { newestRows } from '../observe/newest-rows.js'
import { Observer, otherCheckpoints } from '../observe/observe.js'
import { statusErrorOf } from '../observe/status-error.js'
import type { Status } from '../observe/status.js'
import { tableHistory } from '../observe/table-history.js'
import { findConfig, findQuery, loadQueries } from '../queries/load-queries.js'
import { nextOrders } from '../queries/order-generator.js'
import { ORDER_PARTS, partRecords } from '../queries/order-parts.js'
import { noSuchTable } from '../store/store.js'
import { tablesFolderOf } from '../store/workspace-paths.js'
import { type EmbeddedProducer, openEmbeddedProducer } from '../topic/embedded-producer.js'
import { topicsPath } from '../topic/topic-database.js'
import type { Access, QueryInfo, WorkspaceView } from './session-state.js'
import type { OpenedWorkspace, OpenRequest, Sent, WorkspaceService } from './workspace-service.js'
import { join } from 'node:path'

const TOPIC = 'orders'
/** What the generator makes its orders from; `produce --rate` uses the same unless told otherwise. */
const SEED = '1'
/** What is sent when the four parts are there. */
const ORDERS_OF_SEND = 6

/** A look at a large workspace goes on with counting where the one before had to stop. */
const LONGEST_COUNT_MS = 200

/** A service that is still to be opened. */
export function openWorkspaceService(fx: Effects): WorkspaceService {
  let tail: Promise<unknown> = Promise.resolve()
  let opened: Opened | null = null
  const inTurn = <T>(work: () => T | Promise<T>): Promise<T> => {
    const done = tail.then(work)
    tail = done.catch(() => {})
    return done
  }
  const withOpened = <T>(work: (workspace: Opened) => T | Promise<T>): Promise<T> =>
    inTurn(() => {
      if (opened === null) throw new StreamtopError('internal', 'the workspace is not open')
      return work(opened)
    })
  const asOwner = <T>(work: (workspace: Opened) => T | Promise<T>): Promise<T> =>
    withOpened((workspace) => {
      if (workspace.access !== 'owner') throw new StreamtopError('internal', `the workspace is open as ${workspace.access}: nothing in it is changed`)
      return work(workspace)
    })
  return {
    open: (request) =>
      inTurn(async () => {
        if (opened !== null) throw new StreamtopError('internal', 'the workspace is open already')
        const { workspace, result } = await open(request, fx)
        opened = workspace
        return result
      }),
    look: (query, batchLimit) => withOpened((workspace) => look(workspace, query, batchLimit, fx)),
    rows: (table, limit) =>
      withOpened(async ({ folder }) => {
        const found = await newestRows(folder, table, limit, fx)
        if (found === null) throw noSuchTable(table)
        return { table, ...found }
      }),
    history: (table, limit) =>
      withOpened(({ folder }) => {
        const lines = tableHistory(folder, table, limit, fx)
        if (lines === null) throw noSuchTable(table)
        return lines
      }),
    send: (part) => asOwner((workspace) => send(workspace, part, fx)),
    generate: (records) => asOwner((workspace) => generate(producerOf(workspace, fx), records)),
    replay: (query) => asOwner(({ folder }) => replayNewestBatch(folder, query, fx)),
    reset: (query) => asOwner(({ folder }) => resetQuery(folder, query, fx)),
    drop: (query) =>
      asOwner(async ({ folder, queries }) => {
        // Tables first: where one cannot be dropped, the checkpoint must stay.
        const dropped = await dropTables(folder, tablesOf(findQuery(queries, query)), queries, fx)
        await resetQuery(folder, query, fx)
        return dropped
      }),
    close: () =>
      inTurn(async () => {
        const closing = opened
        opened = null
        await closing?.producer?.close()
        closing?.lock?.release()
      }),
  }
}

interface Opened {
  readonly folder: string
  readonly access: Access
  readonly queries: readonly QueryDefinition[]
  readonly observer: Observer
  readonly lock: QueryLock | null
  /** Opened with the first record that is sent. */
  producer: EmbeddedProducer | null
  newest: Status
}

async function open(request: OpenRequest, fx: Effects): Promise<{ readonly workspace: Opened; readonly result: OpenedWorkspace }> {
  const { workspace: folder } = request
  const configFile = request.configFile ?? findConfig(folder, fx)
  const queries = await loadQueries(configFile, fx)
  const isFirstStart = isEmpty(folder, fx)
  const { access, holderPid, lock } = await claim(request, queries, fx)
  const known = queries.map(infoOf)
  const others = otherCheckpoints(folder, queries, fx).map(unknownQuery)
  const empty: Status = { format: 1, workspace: folder, topics: [], queries: [], tables: [], errors: [] }
  return {
    workspace: {
      folder,
      access,
      queries,
      observer: new Observer(folder, queries, fx, { patienceMs: LONGEST_COUNT_MS }),
      lock,
      producer: null,
      newest: empty,
    },
    result: { access, holderPid, isFirstStart, configFile, queries: [...known, ...others] },
  }
}

/** Takes the workspace, or finds out why it is only looked at. */
async function claim(
  { workspace, adopt, isReadOnly }: OpenRequest,
  queries: readonly QueryDefinition[],
  fx: Effects,
): Promise<{ readonly access: Access; readonly holderPid: number | null; readonly lock: QueryLock | null }> {
  const withoutLock = (access: Access, holderPid: number | null = null) => ({ access, holderPid, lock: null })
  if (isReadOnly) return withoutLock('read-only')
  if (isForeign(workspace, fx)) {
    if (!adopt) return withoutLock('foreign')
    checkWorkspace(workspace, queries, { adopt, acceptGap: false }, fx)
  }
  fx.files.makeFolder(workspace)
  const taken = await acquireDashboardLock(workspace, fx)
  return 'holderPid' in taken ? withoutLock('viewer', taken.holderPid) : { access: 'owner', holderPid: null, lock: taken }
}

/** Whether nobody has done anything here: no topics, no tables, no checkpoints. */
function isEmpty(workspace: string, fx: Effects): boolean {
  const named = (folder: string) => fx.files.list(folder).filter((name) => !name.startsWith('.') && !name.startsWith('_'))
  return !fx.files.exists(topicsPath(workspace)) && named(tablesFolderOf(workspace)).length === 0 && named(join(workspace, 'checkpoints')).length === 0
}

function infoOf({ name, source, table, writes, sink, idempotent }: QueryDefinition): QueryInfo {
  const mode = sink.kind === 'append' ? 'append' : 'foreachBatch'
  return { name, source: { kind: source.kind, name: source.name }, table, writes, mode, idempotentByDefault: idempotent }
}

function unknownQuery(name: string): QueryInfo {
  return { name, source: null, table: null, writes: [], mode: null, idempotentByDefault: false }
}

/** Never throws: what cannot be looked at stays as it was last seen, with the reason among the errors. */
async function look(workspace: Opened, query: string | null, batchLimit: number, fx: Effects): Promise<WorkspaceView> {
  const takenAtMs = fx.nowMs()
  const { observer, queries } = workspace
  try {
    const status = await observer.observe()
    workspace.newest = status
    if (query === null) return { takenAtMs, status, detail: null }
    const sink = status.queries.find(({ name }) => name === query)?.sink?.name ?? null
    const table = queries.find(({ name }) => name === query)?.table ?? sink
    return { takenAtMs, status, detail: observer.closer(query, table, batchLimit) }
  } catch (error) {
    return { takenAtMs, status: { ...workspace.newest, errors: [statusErrorOf(error)] }, detail: null }
  }
}

/** What the four parts leave in the topic tells which of them is next; anything else was sent by others. */
async function send(workspace: Opened, part: number | null, fx: Effects): Promise<Sent> {
  if (part !== null && ORDER_PARTS[part - 1] === undefined) {
    throw new StreamtopError('usage', `there is no part ${part}`, { hint: `the parts are numbered 1 to ${ORDER_PARTS.length}` })
  }
  const producer = producerOf(workspace, fx)
  const next = part ?? nextPart(producer)
  if (next === null) return generate(producer, ORDERS_OF_SEND)
  const records = partRecords(next)
  await producer.send(records)
  return { records: records.length, part: next }
}

function nextPart(producer: EmbeddedProducer): number | null {
  const there = Number([...producer.endOffsets().values()].reduce((sum, end) => sum + end, 0n))
  let before = 0
  for (const [index, { length }] of ORDER_PARTS.entries()) {
    if (there === before) return index + 1
    before += length
  }
  return null
}

async function generate(producer: EmbeddedProducer, records: number): Promise<Sent> {
  await producer.sendGenerated((state) => nextOrders(state, SEED, records))
  return { records, part: null }
}

function producerOf(workspace: Opened, fx: Effects): EmbeddedProducer {
  workspace.producer ??= openEmbeddedProducer(workspace.folder, TOPIC, {}, fx)
  return workspace.producer
}
