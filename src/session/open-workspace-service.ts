/** The workspace service in the thread that calls it. One request at a time: each waits for those before it. */
import type { Effects } from '../effects.js'
import type { QueryDefinition } from '../engine/definition.js'
import { dropTables, tablesOf } from '../engine/drop-table.js'
import { acquireDashboardLock, isDashboardLockThere, type QueryLock, readDashboardHolder } from '../engine/lock.js'
import { onTopic } from '../engine/open-topic.js'
import { replayNewestBatch, resetQuery } from '../engine/reset.js'
import { checkWorkspaceFolder } from '../engine/workspace-folder.js'
import { checkWorkspace, isForeign } from '../engine/workspace.js'
import { StreamtopError } from '../errors.js'
import { newestRows } from '../observe/newest-rows.js'
import { Observer, otherCheckpoints } from '../observe/observe.js'
import { statusErrorOf } from '../observe/status-error.js'
import type { Status } from '../observe/status.js'
import { tableHistory } from '../observe/table-history.js'
import { findConfig, findQuery, loadQueries } from '../queries/load-queries.js'
import { noSuchTable } from '../store/store.js'
import { tablesFolderOf } from '../store/workspace-paths.js'
import { topicsPath } from '../topic/topic-database.js'
import { OrderSender } from './order-sender.js'
import type { Access, QueryInfo, WorkspaceView } from './session-state.js'
import { type TopicAccess, topicAccess } from './topic-access.js'
import { type OpenedWorkspace, type OpenRequest, type Sent, topicOf, type WorkspaceService } from './workspace-service.js'
import { join } from 'node:path'

/** A look at a large workspace goes on with counting where the one before had to stop. */
const LONGEST_COUNT_MS = 200

/** What is sent to a broker that does not answer must not keep a dashboard from its end. */
const LONGEST_CLOSE_MS = 1_000

/** A service that is still to be opened. @param access how its topic is reached */
export function openWorkspaceService(fx: Effects, access: typeof topicAccess = topicAccess): WorkspaceService {
  let opened: Opened | null = null
  const inTurn = turns()
  // A broker may be slow to take what is sent: a look does not wait for that.
  const inTurnOfTopic = turns()
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
  const sending = async (work: (sender: OrderSender) => Promise<Sent>): Promise<Sent> => {
    const { sent } = await asOwner(async ({ sender, elsewhere }) => {
      if (elsewhere === null) return { sent: await work(sender) }
      return { sent: inTurnOfTopic(() => work(sender)) }
    })
    return sent
  }
  return {
    open: (request) =>
      inTurn(async () => {
        if (opened !== null) throw new StreamtopError('internal', 'the workspace is open already')
        const { workspace, result } = await open(request, access, fx)
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
    send: (part) => sending((sender) => sender.send(part)),
    generate: (records) => sending((sender) => sender.generate(records)),
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
        if (closing === null) return
        const { sender, elsewhere, lock } = closing
        if (elsewhere === null) await sender.close()
        else await within(LONGEST_CLOSE_MS, Promise.all([sender.close(), elsewhere.close()]), fx)
        lock?.release()
      }),
  }
}

/** Does one thing after the other. */
function turns(): <T>(work: () => T | Promise<T>) => Promise<T> {
  let tail: Promise<unknown> = Promise.resolve()
  return (work) => {
    const done = tail.then(work)
    tail = done.catch(() => {})
    return done
  }
}

/** Waits no longer than that, and not for a failure. */
async function within(durationMs: number, work: Promise<unknown>, fx: Effects): Promise<void> {
  const patience = new AbortController()
  await Promise.race([work.catch(() => {}), fx.sleep(durationMs, patience.signal)])
  patience.abort()
}

interface Opened {
  readonly folder: string
  readonly access: Access
  readonly queries: readonly QueryDefinition[]
  readonly observer: Observer
  readonly lock: QueryLock | null
  readonly sender: OrderSender
  /** Topics on Kafka; null for those of the workspace. */
  readonly elsewhere: TopicAccess['elsewhere']
  newest: Status
}

async function open(
  request: OpenRequest,
  topicAccessOf: typeof topicAccess,
  fx: Effects,
): Promise<{ readonly workspace: Opened; readonly result: OpenedWorkspace }> {
  const { workspace: folder } = request
  checkWorkspaceFolder(folder, fx)
  const configFile = request.configFile ?? findConfig(folder, fx)
  const loaded = await loadQueries(configFile, fx)
  const queries = loaded.map((query) => onTopic(query, request.topic ?? null))
  const isFirstStart = isEmpty(folder, fx)
  const topic = await topicAccessOf({ workspace: folder, kafka: request.kafka ?? null, topic: topicOf(request), queries }, fx)
  const { elsewhere } = topic
  const { access, holderPid, lock } = await claim(request, queries, fx)
  const known = queries.map(infoOf)
  const others = otherCheckpoints(folder, queries, fx).map(unknownQuery)
  const empty: Status = { format: 1, workspace: folder, topics: [], queries: [], tables: [], errors: [] }
  return {
    workspace: {
      folder,
      access,
      queries,
      observer: new Observer(folder, queries, fx, {
        patienceMs: LONGEST_COUNT_MS,
        ...(elsewhere === null ? {} : { topicsElsewhere: () => elsewhere.look() }),
      }),
      lock,
      sender: new OrderSender(() => {
        if (!isDashboardLockThere(folder, fx)) throw goneWorkspace(folder)
        return topic.openProducer()
      }),
      elsewhere,
      newest: empty,
    },
    result: { access, holderPid, isFirstStart, configFile, queries: [...known, ...others] },
  }
}

/** Takes the workspace, or finds out why it is only looked at. */
async function claim(
  { workspace, adopt, isReadOnly, kafka }: OpenRequest,
  queries: readonly QueryDefinition[],
  fx: Effects,
): Promise<{ readonly access: Access; readonly holderPid: number | null; readonly lock: QueryLock | null }> {
  const withoutLock = (access: Access, holderPid: number | null = null) => ({ access, holderPid, lock: null })
  if (isReadOnly) return withoutLock('read-only')
  if (isForeign(workspace, fx)) {
    if (!adopt) return withoutLock('foreign')
    checkWorkspace(workspace, queries, { adopt, acceptGap: false, kafka: kafka != null }, fx)
    if (kafka != null) await (await import('../engine/adopted-topics.js')).checkAdoptedTopics(workspace, queries, kafka, fx)
  }
  makeWorkspace(workspace, fx)
  const taken = await acquireDashboardLock(workspace, fx)
  return 'holderPid' in taken ? withoutLock('viewer', taken.holderPid) : { access: 'owner', holderPid: null, lock: taken }
}

/** @throws usage when it cannot be made */
function makeWorkspace(folder: string, fx: Effects): void {
  try {
    fx.files.makeFolder(folder)
  } catch (cause) {
    throw new StreamtopError('usage', `the folder ${folder} cannot be made (${(cause as Error).message})`, {
      hint: 'name a folder with --workspace that you may write to',
      cause,
    })
  }
}

function goneWorkspace(folder: string): StreamtopError {
  return new StreamtopError('usage', `the workspace ${folder} was removed while it was open: nothing is sent`, { hint: 'quit, and start streamtop again' })
}

/** Whether nobody has done anything here: no topics, no tables, no checkpoints. */
function isEmpty(workspace: string, fx: Effects): boolean {
  // Files are none: a clone has a README in each of the two folders.
  const isNamed = (folder: string, name: string) => !/^[._]/.test(name) && fx.files.status(join(folder, name))?.isFolder === true
  const named = (folder: string) => fx.files.list(folder).filter((name) => isNamed(folder, name))
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
  const view = await lookAtDisk(workspace, query, batchLimit, fx)
  return workspace.access === 'viewer' ? { ...view, holderPid: readDashboardHolder(workspace.folder, fx) } : view
}

async function lookAtDisk(workspace: Opened, query: string | null, batchLimit: number, fx: Effects): Promise<WorkspaceView> {
  const takenAtMs = fx.nowMs()
  const { observer, queries } = workspace
  try {
    const status = await observer.observe()
    workspace.newest = status
    const isCounted = observer.isComplete
    if (query === null) return { takenAtMs, isCounted, status, detail: null }
    const sink = status.queries.find(({ name }) => name === query)?.sink?.name ?? null
    const table = queries.find(({ name }) => name === query)?.table ?? sink
    return { takenAtMs, isCounted, status, detail: observer.closer(query, table, batchLimit) }
  } catch (error) {
    return { takenAtMs, status: { ...workspace.newest, errors: [statusErrorOf(error)] }, detail: null }
  }
}
