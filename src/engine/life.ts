/**
 * One life of a query: from taking its lock to letting everything go, or to a death. Both runners live it; they differ in how
 * they hear of it (`listen`) and in how they die.
 */
import type { Effects } from '../effects.js'
import { knownError, StreamtopError } from '../errors.js'
import type { WriteReport } from '../store/write.js'
import type { Attempt } from '../store/attempt.js'
import type { Run } from '../store/runs.js'
import { Store } from '../store/store.js'
import { type BatchClock, startBatchClock } from './batch-clock.js'
import { checkpointFolder } from './checkpoint.js'
import { createPurge } from './checkpoint-purge.js'
import { type Control, reachUnder } from './control.js'
import type { QueryDefinition } from './definition.js'
import type { EventListener, QueryEvent } from './events.js'
import { acquireLock, type QueryLock } from './lock.js'
import type { OpenTopic, TopicWatch } from './open-topic.js'
import { lostOffsetsOf, progressOf } from './progress.js'
import type { RunOptions } from './run-options.js'
import { runQuery } from './query.js'
import type { Source } from './source.js'
import { tableSourceOptions, topicSourceOptions } from './source-options.js'
import type { Reach, StepEvent } from './steps.js'
import { tableSource } from './table-source.js'
import { topicSource } from './topic-source.js'
import { availableNow, everyInterval, type Trigger } from './trigger.js'

/** What the loop works with. */
export interface QueryLife {
  readonly definition: QueryDefinition
  /** The checkpoint's. */
  readonly folder: string
  readonly store: Store
  readonly source: Source
  readonly trigger: Trigger
  readonly control: Control
  readonly reach: Reach
  readonly stop: AbortSignal
  readonly appId: string
  readonly acceptGap: boolean
  readonly fx: Effects
  report(event: QueryEvent): void
  /** Told once the query has its id. */
  began(queryId: string): void
  startClock(): BatchClock
  /** What a batch leaves to do when it is done, none of it needed by the next. */
  afterBatch(done: DoneBatch): Promise<void>
}

export interface DoneBatch {
  readonly attempt: Attempt
  readonly writes: readonly (WriteReport & { readonly table: string })[]
  readonly inputRowCount: number
  readonly lostOffsets: number
  readonly timestampMs: number
  readonly clock: BatchClock
}

export interface LifeOptions {
  /** The process whose end is this one's too; the parent unless given. */
  readonly parentPid?: number
  readonly workspace: string
  readonly definition: QueryDefinition
  readonly options: RunOptions
  readonly control: Control
  readonly stop: AbortSignal
  readonly listen: EventListener
  /** Ends this life at a step; never returns. */
  readonly die: (event: StepEvent) => Promise<never>
  /** Opens the topic that a topic query reads. */
  readonly openTopic: OpenTopic
}

export interface Life {
  /** Resolves when the run is over, rejects with what ended it. */
  run(): Promise<void>
  /** Ends it with an error that `run` cannot hear of, so that its row says so; the rest is as after a death. */
  fail(error: unknown): void
  /** Lets go of everything as a death would: nothing is committed, nothing is taken back. */
  abandon(): void
}

/**
 * Begins a life: takes the lock and opens what the query needs.
 * @throws concurrent-query, usage for options that the source does not know, and what opening finds damaged
 */
export async function beginLife(life: LifeOptions, fx: Effects): Promise<Life> {
  const { workspace, definition, options, control, listen } = life
  const sourceKind = definition.source.kind
  const tableOptions = sourceKind === 'table' ? tableSourceOptions(options.sourceOptions) : null
  const topicOptions = sourceKind === 'topic' ? topicSourceOptions(options.sourceOptions) : null
  const lock = await acquireLock(workspace, definition.name, fx, life.parentPid === undefined ? {} : { parentPid: life.parentPid })
  let store: Store | null = null
  let source: Source
  let onOutage: TopicWatch['onOutage'] = () => {}
  const watch: TopicWatch = { signal: life.stop, onOutage: (error) => onOutage(error) }
  try {
    store = Store.open(workspace, fx)
    const { source: spec, name } = definition
    if (spec.kind === 'table' && tableOptions) source = tableSource(workspace, name, spec, tableOptions, store, fx)
    else if (spec.kind === 'topic' && topicOptions)
      source = topicSource(workspace, name, spec, topicOptions, life.openTopic(workspace, spec.name, fx, watch), fx)
    else throw new StreamtopError('internal', `query ${name} has a source of no kind`)
  } catch (error) {
    store?.close()
    lock.release()
    throw error
  }
  const handles = { lock, store, source }
  const run = newRun(definition, options, control, fx)
  onOutage = (error) => {
    run.update(error ? { state: 'waiting', error: JSON.stringify(errorJson(error)) } : { state: 'running', error: null })
    handles.store.log.runs.put(run.current)
    listen(error ? { kind: 'waiting', reason: error.message } : { kind: 'working' })
  }
  const query = queryLife(life, handles, run, fx)
  return {
    async run() {
      try {
        listen({ kind: 'started', runId: run.current.runId })
        await runQuery(query)
        run.update({ state: 'stopped' })
      } catch (error) {
        // Asked to stop while it waited for its source.
        if (life.stop.aborted && error instanceof Error && error.name === 'AbortError') return run.update({ state: 'stopped' })
        run.update({ state: 'failed', error: JSON.stringify(errorJson(error)) })
        throw error
      } finally {
        await end(handles, run)
      }
    },
    fail(error) {
      run.update({ state: 'failed', error: JSON.stringify(errorJson(error)) })
      try {
        handles.store.log.runs.put(run.current)
      } catch {
        // Where it cannot be written, or the run is over, whoever started it hears of the error all the same.
      }
      letGo()
    },
    abandon: letGo,
  }

  function letGo(): void {
    handles.store.close()
    handles.lock.abandon()
    void handles.source.close()
  }

  /** The last row is written before the handles go, and is worth no error of its own. */
  async function end({ lock, store, source }: Handles, row: RunRow): Promise<void> {
    try {
      store.log.runs.put(row.current)
      store.tidyUp()
    } catch {
      // What ended the run is what must be heard of; a status knows a little less.
    } finally {
      await source.close()
      store.close()
      lock.release()
    }
  }
}

/** An error as data, for the ledger of runs and for another process. */
export function errorJson(error: unknown): { code: string; message: string; hint: string | null; condition: string | null; stack: string | null } {
  const known = knownError(error)
  if (known !== null) {
    return { code: known.code, message: known.message, hint: known.hint ?? null, condition: known.condition ?? null, stack: known.stack ?? null }
  }
  const { message, stack } = error instanceof Error ? error : { message: String(error), stack: undefined }
  return { code: 'internal', message, hint: null, condition: null, stack: stack ?? null }
}

interface Handles {
  readonly lock: QueryLock
  readonly store: Store
  readonly source: Source
}

interface RunRow {
  readonly current: Run
  update(change: Partial<Run>): void
}

function queryLife(life: LifeOptions, { store, source }: Handles, run: RunRow, fx: Effects): QueryLife {
  const { workspace, definition, options, control, stop, listen } = life
  const folder = checkpointFolder(workspace, definition.name)
  const appId = options.appId ?? definition.appId
  const purge = createPurge(folder, fx)
  const onHeld = (at: StepEvent, isHeld: boolean) => {
    run.update({ state: isHeld ? 'paused' : 'running' })
    store.log.runs.put(run.current)
    listen({ kind: 'held', at, isHeld })
  }
  const onWaiting = (isWaiting: boolean) => {
    if (isWaiting === (run.current.state === 'waiting')) return
    run.update({ state: isWaiting ? 'waiting' : 'running' })
    store.log.runs.put(run.current)
    listen({ kind: isWaiting ? 'waiting' : 'working' })
  }
  const reaching = reachUnder(control, { report: (event, tookMs) => listen({ kind: 'step', event, tookMs }), onHeld, die: life.die, stop }, fx)
  const trigger = options.intervalMs === null ? availableNow(source, control, stop, onWaiting, fx) : everyInterval(source, control, stop, onWaiting, fx)
  let previousStartMs: number | null = null
  let lostOffsets = 0
  return {
    definition,
    folder,
    store,
    source,
    trigger,
    control,
    stop,
    appId,
    acceptGap: options.acceptGap,
    fx,
    reach: reaching.reach,
    report: listen,
    began(queryId) {
      // The newest batch may be another run's: its progress stays until this one has some.
      const earlier = store.log.runs.all().find((row) => row.query === definition.name && row.queryId === queryId)
      run.update({ queryId, progress: earlier?.progress ?? null })
      lostOffsets = lostOffsetsOf(earlier?.progress ?? '') ?? 0
      store.log.runs.put(run.current)
      listen({ kind: 'began', queryId })
    },
    startClock: () => startBatchClock(reaching.hasRested, fx),
    async afterBatch(done) {
      lostOffsets += done.lostOffsets
      const progress = progressOf({ ...done, lostOffsets, runId: run.current.runId, definition, source, previousStartMs })
      previousStartMs = done.clock.startedMs
      run.update({ progress: JSON.stringify(progress), idempotent: done.attempt.idempotent })
      listen({ kind: 'batch', batchId: done.attempt.batchId, attempt: done.attempt.attempt, writes: done.writes, progress })
      try {
        store.log.runs.put(run.current)
        store.tidyUp()
        purge(done.attempt.batchId)
      } catch (error) {
        // The batch is committed, and nothing of this is needed by the next.
        listen({ kind: 'note', batchId: done.attempt.batchId, text: `tidying up after batch ${done.attempt.batchId} failed: ${(error as Error).message}` })
      }
    },
  }
}

function newRun(definition: QueryDefinition, options: RunOptions, control: Control, fx: Effects): RunRow {
  const nowMs = fx.nowMs()
  let current: Run = {
    query: definition.name,
    queryId: null,
    runId: fx.randomUuid(),
    pid: process.pid,
    processStart: fx.processStart(process.pid),
    idempotent: control.settings.idempotent ?? definition.idempotent,
    appId: definition.sink.kind === 'append' ? '' : (options.appId ?? definition.appId),
    state: 'running',
    error: null,
    progress: null,
    startedMs: nowMs,
    updatedMs: nowMs,
  }
  return {
    get current() {
      return current
    },
    update(change) {
      current = { ...current, ...change, updatedMs: fx.nowMs() }
    },
  }
}
