/** A session on a workspace: runs its queries with a runner, looks at it through a service, and does what is asked. */
import type { Effects } from '../effects.js'
import type { NamedQuery, Runner } from '../engine/runner.js'
import { StreamtopError } from '../errors.js'
import { counted } from '../observe/counted.js'
import { statusErrorOf } from '../observe/status-error.js'
import type { Status } from '../observe/status.js'
import { brokerNews } from './broker-news.js'
import { errorText, reasonText } from './log-text.js'
import { Looks, sessionHasEnded } from './looks.js'
import { Generator, sendParts } from './order-flow.js'
import { newLiveQuery } from './live-query.js'
import { Performer } from './performer.js'
import type { Session, SessionAction } from './session.js'
import { type QueryHost, SessionQuery } from './session-query.js'
import { type LogEntry, PACES, type SessionMessage, type SessionState, type WorkspaceView } from './session-state.js'
import { type OpenedWorkspace, type OpenRequest, type Sent, topicOf, type WorkspaceService } from './workspace-service.js'

export interface SessionOptions extends OpenRequest {
  /** One of `PACES`; `slow` unless given. */
  readonly pace?: string
  /** Between the plans of two batches at every pace, in milliseconds; the pace's own unless given. */
  readonly intervalMs?: number | null
  /** Of the generator: 0 is off. Unless given it begins at 1 after the four parts of a first start, and is off otherwise. */
  readonly ratePerSecond?: number | null
  /** Nothing is started or sent by itself: whoever opened it says what happens. */
  readonly startsNothing?: boolean
  /** The workspace was made for this session alone: it is removed when the session closes. */
  readonly isTemporary?: boolean
}

const SLOW = 2
/** When the next part of a first start is sent although nobody has taken the one before: so many intervals, and at least so long. */
const PART_PATIENCE = { intervals: 2, leastMs: 2_000 }

/**
 * Opens a workspace and, as its owner, starts every query in it that is not dead.
 * @param service not yet opened; closed by the session
 * @param runnerOf makes the runner, once it is known which configuration file holds the queries
 * @throws what `WorkspaceService.open` throws, and usage for a pace that does not exist; the service is closed then
 */
export async function openSession(
  options: SessionOptions,
  service: WorkspaceService,
  runnerOf: (configFile: string | null) => Runner<NamedQuery>,
  fx: Effects,
): Promise<Session> {
  try {
    const pace = paceNamed(options.pace ?? PACES[SLOW]?.name ?? '')
    const { workspace, configFile, isReadOnly, adopt, kafka = null, topic = null } = options
    const opened = await service.open({ workspace, configFile, isReadOnly, adopt, kafka, topic })
    return new LiveSession(options, pace, opened, service, runnerOf(opened.configFile), fx)
  } catch (error) {
    await service.close()
    throw error
  }
}

/** @throws usage, with the names there are */
export function paceNamed(name: string): (typeof PACES)[number] {
  const found = PACES.find((pace) => pace.name === name)
  if (found) return found
  throw new StreamtopError('usage', `there is no pace ${name}`, { hint: `the paces are ${PACES.map((pace) => pace.name).join(', ')}` })
}

class LiveSession implements Session, QueryHost {
  readonly workspace: string
  readonly runner: Runner<NamedQuery>
  readonly #options: SessionOptions
  readonly #service: WorkspaceService
  readonly #fx: Effects
  readonly #queries: readonly SessionQuery[]
  readonly #looks: Looks
  readonly #generator: Generator
  readonly #performer: Performer
  readonly #listeners = new Set<(message: SessionMessage) => void>()
  readonly #end = new AbortController()
  readonly #flowing: readonly Promise<void>[]
  readonly #sentParts = new Set<number>()
  /** Whether the generator's orders could not be sent the last time. */
  #isSendFailing = false
  #isGeneratorTouched = false
  #seenStatus: Status | null = null
  #state: SessionState
  #watched: { readonly query: string | null; readonly batchLimit: number } = { query: null, batchLimit: 0 }
  #closing: Promise<void> | null = null

  constructor(
    options: SessionOptions,
    pace: (typeof PACES)[number],
    opened: OpenedWorkspace,
    service: WorkspaceService,
    runner: Runner<NamedQuery>,
    fx: Effects,
  ) {
    this.#options = options
    this.#service = service
    this.#fx = fx
    this.workspace = options.workspace
    this.runner = runner
    this.#queries = opened.queries.filter(({ mode }) => mode !== null).map((info) => new SessionQuery(info, this, fx))
    const { access, holderPid, isFirstStart } = opened
    const isOwner = access === 'owner'
    const rate = options.ratePerSecond ?? null
    this.#state = {
      workspace: options.workspace,
      access,
      holderPid,
      queries: [...this.#queries.map(({ live }) => live), ...opened.queries.filter(({ mode }) => mode === null).map(newLiveQuery)],
      pace: this.#withInterval(pace),
      isPaused: false,
      generator: { isOn: isOwner && (!isFirstStart || this.#isOnKafka) && rate !== null && rate > 0, ratePerSecond: rate === null || rate === 0 ? 1 : rate },
      isFirstStart,
    }
    this.#looks = new Looks(
      () => service.look(this.#watched.query, this.#watched.batchLimit),
      (view, isNew) => this.#seen(view, isNew),
      (error) => this.log('streamtop', { kind: 'failed', text: errorText(statusErrorOf(error)) }),
      fx,
    )
    this.#generator = new Generator(
      service,
      { ...this.#state.generator, isPaused: false },
      () => this.#sent(),
      (error) => this.#generatorFailed(error),
      fx,
    )
    this.#performer = new Performer(this.#queries, this.#looks, this)
    const firstLook = this.#looks.fresh()
    const begun = isOwner && !options.startsNothing ? [this.#begin(firstLook)] : []
    this.#flowing = [this.#looks.run(), ...(isOwner ? [this.#generator.run(this.#end.signal)] : []), ...begun]
    firstLook.catch(() => {})
  }

  get state(): SessionState {
    return this.#state
  }

  get service(): WorkspaceService {
    return this.#service
  }

  subscribe(listener: (message: SessionMessage) => void): () => void {
    this.#listeners.add(listener)
    listener({ kind: 'state', state: this.#state })
    const view = this.#looks.newest
    if (view) listener({ kind: 'view', view })
    return () => void this.#listeners.delete(listener)
  }

  watch(query: string | null, batchLimit: number): void {
    if (this.#watched.query === query && this.#watched.batchLimit === batchLimit) return
    this.#watched = { query, batchLimit }
    this.#looks.request()
  }

  perform(action: SessionAction, by: string): Promise<string> {
    return this.#closing === null ? this.#performer.perform(action, by) : Promise.reject(sessionHasEnded())
  }

  close(): Promise<void> {
    this.#closing ??= this.#close()
    return this.#closing
  }

  hurry(): void {
    for (const query of this.#queries) void query.kill('quit')
  }

  /** Changes what is true of all queries; gives the state that came of it. */
  update(change: Partial<Pick<SessionState, 'pace' | 'isPaused' | 'generator'>>): SessionState {
    if (change.generator) this.#isGeneratorTouched = true
    this.#state = { ...this.#state, ...change }
    this.#generator.set({ ...this.#state.generator, isPaused: this.#state.isPaused })
    this.#tell({ kind: 'state', state: this.#state })
    return this.#state
  }

  setPace(name: string): SessionState {
    return this.update({ pace: this.#withInterval(paceNamed(name)) })
  }

  /** Sends one of the parts, or what is next. */
  async send(part: number | null): Promise<Sent> {
    const sent = await this.#service.send(part)
    if (sent.part !== null) this.#sentParts.add(sent.part)
    this.touched()
    return sent
  }

  conditions() {
    const { pace, isPaused } = this.#state
    return { dwellMs: pace.dwellMs, intervalMs: pace.intervalMs, isPaused }
  }

  isClosing(): boolean {
    return this.#closing !== null
  }

  changed(): void {
    const others = this.#state.queries.filter(({ info }) => info.mode === null)
    this.#state = { ...this.#state, queries: [...this.#queries.map(({ live }) => live), ...others] }
    this.#tell({ kind: 'state', state: this.#state })
  }

  touched(): void {
    this.#looks.request()
  }

  log(who: string, words: Pick<LogEntry, 'kind' | 'text'>): void {
    this.#tell({ kind: 'log', entry: { atMs: this.#fx.nowMs(), who, ...words } })
  }

  #tell(message: SessionMessage): void {
    for (const listener of this.#listeners) listener(message)
  }

  #withInterval(pace: (typeof PACES)[number]): SessionState['pace'] {
    const intervalMs = this.#options.intervalMs ?? null
    return intervalMs === null ? pace : { ...pace, intervalMs }
  }

  /** What an owner does first: everything goes on that is not dead, and a workspace in which nothing is gets its orders. */
  async #begin(firstLook: Promise<WorkspaceView>): Promise<void> {
    const starts = this.#queries.map((query) => query.inTurn(async () => this.#goOn(query, (await firstLook).status)))
    await Promise.allSettled(starts)
    // A topic of the workspace is there for this. One on Kafka is somebody's: nothing is sent to it unasked.
    if (!this.#state.isFirstStart || this.#isOnKafka) return
    const send = async (part: number) => {
      const { records } = await this.send(part)
      this.log('topic', { kind: 'note', text: `part ${part} arrived: ${counted(records, 'record')}` })
    }
    try {
      await sendParts(
        (part) => this.#sentParts.has(part),
        send,
        () => this.#untilTaken(),
        this.#end.signal,
      )
    } catch (error) {
      this.#generatorFailed(error)
      return
    }
    const isOn = (this.#options.ratePerSecond ?? 1) > 0
    if (!this.#isGeneratorTouched && isOn && !this.#end.signal.aborted) this.update({ generator: { ...this.#state.generator, isOn } })
  }

  async #goOn(query: SessionQuery, { queries }: WorkspaceView['status']): Promise<void> {
    const status = queries.find(({ name }) => name === query.name) ?? null
    query.goOnFrom(status)
    const isDead = status !== null && (status.state === 'killed' || status.state === 'failed')
    if (!isDead && (status?.pid ?? null) === null) query.start(null)
  }

  /** Until a query that reads the topic has committed a batch, or has had time enough to. */
  async #untilTaken(): Promise<void> {
    const patience = new AbortController()
    const end = AbortSignal.any([this.#end.signal, patience.signal])
    const readers = this.#queries.filter(({ live: { info } }) => info.source?.kind === 'topic' && info.source.name === topicOf(this.#options))
    const longestMs = Math.max(PART_PATIENCE.leastMs, PART_PATIENCE.intervals * this.#state.pace.intervalMs)
    await Promise.race([this.#fx.sleep(longestMs, end), ...readers.map((query) => query.nextCommit(end))])
    patience.abort()
  }

  get #isOnKafka(): boolean {
    return (this.#options.kafka ?? null) !== null
  }

  #sent(): void {
    if (this.#isSendFailing) this.log('topic', { kind: 'note', text: 'the generator goes on' })
    this.#isSendFailing = false
    this.touched()
  }

  /** Whether it is to be tried again: a broker may come back, and a topic be made; said once, until it could send again. */
  #generatorFailed(error: unknown): boolean {
    if (this.isClosing()) return false
    const known = statusErrorOf(error)
    if (this.#isOnKafka && known.code === 'source-missing') {
      if (!this.#isSendFailing) this.log('topic', { kind: 'waiting', text: `the generator waits: ${reasonText(known)}` })
      this.#isSendFailing = true
      return true
    }
    this.log('topic', { kind: 'failed', text: errorText(known) })
    this.update({ generator: { ...this.#state.generator, isOn: false } })
    return false
  }

  #seen(view: WorkspaceView, isNew: boolean): void {
    const statusOf = (name: string) => view.status.queries.find((status) => status.name === name) ?? null
    for (const query of this.#queries) {
      // Who runs nothing shows how others run it.
      if (this.#state.access !== 'owner') query.goOnFrom(statusOf(query.name))
      query.see(statusOf(query.name))
    }
    this.#seeHolder(view)
    this.#seeOthers(view)
    for (const words of brokerNews(this.#seenStatus, view.status, this.#topics())) this.log('topic', words)
    this.#seenStatus = view.status
    // What was not counted in time is counted by the next look.
    if (view.status.tables.some(({ countsVersion, version, error }) => error === null && countsVersion !== version)) this.touched()
    if (isNew) this.#tell({ kind: 'view', view })
  }

  #topics(): string[] {
    const names = this.#queries.flatMap(({ live: { info } }) => (info.source?.kind === 'topic' ? [info.source.name] : []))
    return [...new Set(names)]
  }

  /** Of a viewer: its owner may end, and another may come. It stays a viewer. */
  #seeHolder({ holderPid }: WorkspaceView): void {
    if (holderPid === undefined) return
    const hasHolderEnded = holderPid === null
    if (hasHolderEnded === (this.#state.hasHolderEnded ?? false) && (hasHolderEnded || holderPid === this.#state.holderPid)) return
    this.#state = { ...this.#state, holderPid: holderPid ?? this.#state.holderPid, hasHolderEnded }
    this.#tell({ kind: 'state', state: this.#state })
    const text = hasHolderEnded
      ? `process ${this.#state.holderPid} has ended; start streamtop again to run the queries`
      : `the queries are held by process ${holderPid} now`
    this.log('streamtop', { kind: 'note', text })
  }

  /** Checkpoints whose queries are not known come and go. */
  #seeOthers({ status }: WorkspaceView): void {
    const others = status.queries
      .filter(({ name }) => !this.#queries.some((query) => query.name === name))
      .map(({ name, source, sink, pid }) => ({
        ...newLiveQuery({ name, source, table: sink?.name ?? null, writes: [], mode: null, idempotentByDefault: false }),
        heldByPid: pid,
      }))
    const before = this.#state.queries.filter(({ info }) => info.mode === null)
    if (JSON.stringify(before) === JSON.stringify(others)) return
    this.#state = { ...this.#state, queries: [...this.#queries.map(({ live }) => live), ...others] }
    this.#tell({ kind: 'state', state: this.#state })
  }

  async #close(): Promise<void> {
    // What is in progress sees that the session is closing once `#closing` is set.
    await null
    this.#end.abort()
    this.#looks.end()
    await Promise.allSettled(this.#queries.map((query) => query.stop('quit')))
    await this.#service.close().catch(() => {})
    await Promise.allSettled(this.#flowing)
    if (this.#options.isTemporary) this.#fx.files.removeFolder(this.workspace)
  }
}
