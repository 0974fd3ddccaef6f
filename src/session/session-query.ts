/**
 * One query of a session: its process, and what is asked of it one after the other. What is asked waits for what was asked before;
 * a kill does not wait.
 */
import type { Effects } from '../effects.js'
import type { QueryEvent } from '../engine/events.js'
import type { ControlSettings } from '../engine/control.js'
import { errorFrom } from '../engine/messages.js'
import type { NamedQuery, Runner, RunningQuery } from '../engine/runner.js'
import type { Step } from '../engine/steps.js'
import { StreamtopError } from '../errors.js'
import { afterEnding, afterEvent, afterLook, newLiveQuery, pendingStep } from './live-query.js'
import { batchWords, endingWords, placeText, startWords, waitingText } from './log-text.js'
import { sessionHasEnded } from './looks.js'
import type { RunOnce } from './session.js'
import type { LiveQuery, LogEntry, QueryInfo } from './session-state.js'
import type { QueryStatus } from '../observe/status.js'

/** What a query needs of its session. */
export interface QueryHost {
  readonly workspace: string
  readonly runner: Runner<NamedQuery>
  /** How every query is run now. */
  conditions(): { readonly dwellMs: number; readonly intervalMs: number; readonly isPaused: boolean }
  isClosing(): boolean
  changed(): void
  /** Something on disk is other than before. */
  touched(): void
  log(who: string, words: Pick<LogEntry, 'kind' | 'text'>): void
}

const LONGEST_STOP_MS = 3_000
/** A process that was killed is gone at once, unless the disk does not answer. */
const LONGEST_DEATH_MS = 2_000
const PRINTED_LINES_A_SECOND = 20
const LONGEST_PRINTED_LINE = 1_000

export class SessionQuery {
  readonly #host: QueryHost
  readonly #fx: Effects
  #live: LiveQuery
  #running: RunningQuery | null = null
  /** Resolves when the end of the newest process has been taken note of. */
  #over: Promise<void> = Promise.resolve()
  #tail: Promise<unknown> = Promise.resolve()
  #armedBy: string | null = null
  #killedBy: string | null = null
  #stoppedBy: string | null = null
  #isSingleStepped = false
  /** What a run is that does not say; `live.idempotent` is that of the next attempt, after a run that said as that one was. */
  #idempotent: boolean
  /** Its `batch.appId` where an earlier run was given another than the query's own. */
  #appId: string | null = null
  #lastPid: number | null = null
  #committed: (() => void)[] = []
  #printed = { second: 0, lines: 0 }

  constructor(info: QueryInfo, host: QueryHost, fx: Effects) {
    this.#live = newLiveQuery(info)
    this.#idempotent = info.idempotentByDefault
    this.#host = host
    this.#fx = fx
  }

  get live(): LiveQuery {
    return this.#live
  }

  get name(): string {
    return this.#live.info.name
  }

  /** Does something after what was asked before it, whatever became of that. */
  inTurn<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#tail.then(() => {
      if (this.#host.isClosing()) throw sessionHasEnded()
      return work()
    })
    this.#tail = done.catch(() => {})
    return done
  }

  /** How the newest run left it: the session goes on in the same way. */
  goOnFrom(status: QueryStatus | null): void {
    if (status === null) return
    if (this.#live.info.mode === 'foreachBatch') this.#appId = status.appId
    this.#idempotent = status.idempotent ?? this.#live.info.idempotentByDefault
    if (this.#idempotent !== this.#live.idempotent) this.#set({ idempotent: this.#idempotent })
  }

  /**
   * Runs it until it is caught up.
   * @returns what came of it, in a line
   * @throws what it failed with; step-not-reached
   */
  async run(once: RunOnce, by: string): Promise<string> {
    const { name } = this
    const armed = once.armed ?? null
    // A run is as `streamtop run`: it does not wait for a key at each step.
    this.#isSingleStepped = false
    this.#armedBy = armed === null ? null : by
    this.start(by, armed, once)
    await this.#over
    const { ending } = this.#live
    if (ending?.kind === 'killed') return `${name} was killed ${placeText(ending.at)}`
    if (ending?.kind === 'failed' && ending.error) throw errorFrom({ ...ending.error, stack: null })
    if (ending?.kind !== 'stopped') throw new StreamtopError('internal', `the process of ${name} ended, and nobody asked for it`)
    if (ending.by !== null) return `${name} was stopped`
    if (armed === null) return `${name} is caught up`
    throw new StreamtopError('step-not-reached', `${name} never reached ${armed.step}${armed.occurrence > 1 ? `:${armed.occurrence}` : ''}: nothing was killed`)
  }

  /** Starts its process, unless there is one. `once`: it ends when it is caught up. */
  start(by: string | null, armed: LiveQuery['armed'] = null, once: RunOnce | null = null): void {
    if (this.#running !== null || this.#host.isClosing()) return
    const { workspace, runner } = this.#host
    const { dwellMs, intervalMs, isPaused } = this.#host.conditions()
    const isHeld = isPaused || this.#isSingleStepped
    const idempotent = once === null ? this.#live.idempotent : (once.idempotent ?? this.#idempotent)
    const running: RunningQuery = runner.start({
      workspace,
      definition: { name: this.name },
      options:
        once === null
          ? { sourceOptions: [], appId: this.#appId, intervalMs, acceptGap: false }
          : { sourceOptions: once.sourceOptions ?? [], appId: once.appId ?? null, intervalMs: null, acceptGap: once.acceptGap ?? false },
      idempotent,
      armed,
      dwellMs,
      isHeld,
      hasUpstream: false,
      listen: (event) => {
        if (this.#running === running) this.#hear(event)
      },
      onOutput: (line) => this.#print(line),
    })
    this.#running = running
    this.#killedBy = null
    this.#stoppedBy = null
    this.#lastPid = running.pid ?? process.pid
    this.#set({ process: 'starting', pid: running.pid, heldByPid: null, isHeld, armed, idempotent, ending: null })
    this.#say(startWords(running.pid, by))
    this.#over = running.ending.then((ending) => {
      this.#running = null
      const askedBy = { arm: this.#armedBy, kill: this.#killedBy, stop: this.#stoppedBy }
      this.#live = afterEnding(this.#live, ending, askedBy, this.#fx.nowMs())
      this.#armedBy = null
      if (this.#live.ending) this.#say(endingWords(this.#live.ending))
      this.#host.changed()
      this.#host.touched()
    })
  }

  /**
   * Asks it to end after its batch, without a hold or a dwell; kills it when it does not end in time.
   * @returns whether that is how it ended, and nothing else came first
   */
  async stop(by: string): Promise<boolean> {
    const running = this.#running
    if (running === null) return false
    this.#stoppedBy = by
    this.#set({ process: 'stopping', armed: null })
    running.change({ armed: null })
    running.stop()
    if (await this.#endsWithin(LONGEST_STOP_MS)) return this.#live.ending?.kind === 'stopped'
    this.#say({ kind: 'note', text: `did not stop in ${LONGEST_STOP_MS / 1_000} s, and is killed` })
    this.#killedBy ??= by
    running.kill()
    return this.#endsWithin(LONGEST_DEATH_MS)
  }

  /** Kills its process now. */
  async kill(by: string): Promise<void> {
    if (this.#running === null) return
    this.#killedBy = by
    this.#running.kill()
    await this.#over
  }

  /** Does something while it has no process, and starts it again if it had one and nobody has killed it meanwhile. */
  async whileStopped<T>(by: string, work: () => Promise<T>): Promise<T> {
    const { armed } = this.#live
    const armedBy = this.#armedBy
    const isToGoOn = await this.stop(by)
    try {
      const result = await work()
      this.#set({ attempt: null, ending: null })
      return result
    } finally {
      if (isToGoOn) {
        this.#armedBy = armedBy
        this.start(by, armed)
      }
    }
  }

  arm(step: Step, by: string): void {
    this.#armedBy = by
    this.#change({ armed: { step, occurrence: 1 } })
  }

  disarm(): void {
    this.#armedBy = null
    this.#change({ armed: null })
  }

  chooseKillStep(killStep: Step): void {
    this.#set({ killStep })
  }

  makeIdempotent(idempotent: boolean): void {
    this.#idempotent = idempotent
    this.#change({ idempotent })
  }

  /** Holds it, or lets it go one step. Says what came of it. */
  step(): string {
    const at = this.#live.heldAt
    const isBetween = at === null && pendingStep(this.#live) === null
    if (!this.#live.isHeld) {
      this.#isSingleStepped = true
      this.#change({ isHeld: true })
      return isBetween ? `${this.name} is between two batches: it is held at the first step of its next` : `${this.name} is held at its next step`
    }
    // A step that nobody waits for would be taken later, when nobody expects it.
    if (isBetween) return `${this.name} is between two batches, and is held at the first step of its next`
    this.#running?.step()
    return at === null ? `${this.name} goes on to its next step` : `${this.name} goes on from ${at.step} of batch ${at.batchId}`
  }

  /** Holds it as all others, or lets it go on as it was before. */
  pause(isPaused: boolean): void {
    this.#change({ isHeld: isPaused || this.#isSingleStepped })
  }

  /** Ends single steps. */
  letGo(): void {
    this.#isSingleStepped = false
    this.#change({ isHeld: false })
  }

  changePace(dwellMs: number, intervalMs: number): void {
    this.#running?.change({ dwellMs, intervalMs })
  }

  /** With what a look saw. */
  see(status: QueryStatus | null): void {
    const seen = afterLook(this.#live, status, this.#lastPid)
    if (seen !== this.#live) this.#set(seen)
  }

  /** Resolves at its next commit, or when the signal fires. */
  nextCommit(signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      this.#committed.push(resolve)
      signal.addEventListener('abort', () => resolve(), { once: true })
    })
  }

  #hear(event: QueryEvent): void {
    const before = this.#live
    this.#live = afterEvent(before, event, this.#fx.nowMs())
    if (event.kind === 'batch') {
      this.#say(batchWords(event, this.#live.info, this.#live.attempt))
      for (const resolve of this.#committed.splice(0)) resolve()
    } else if (event.kind === 'note') this.#say({ kind: 'note', text: event.text })
    else if (event.kind === 'waiting') this.#say({ kind: 'waiting', text: waitingText(this.#live.info, event.reason ?? null) })
    else if (event.kind === 'working' && before.unreachable !== null) this.#say({ kind: 'note', text: 'goes on: its source answers again' })
    if (this.#live !== before) this.#host.changed()
    if (event.kind !== 'note' && !(event.kind === 'step' && event.event.step === 'planned')) this.#host.touched()
  }

  /** What is changed while it runs, and is so at its next start. */
  #change(change: Partial<Pick<ControlSettings & LiveQuery, 'armed' | 'idempotent' | 'isHeld'>>): void {
    this.#running?.change(change)
    this.#set(change)
  }

  #set(change: Partial<LiveQuery>): void {
    this.#live = { ...this.#live, ...change }
    this.#host.changed()
  }

  #say(words: Pick<LogEntry, 'kind' | 'text'>): void {
    this.#host.log(this.name, words)
  }

  /** What its own code prints: a few lines a second, for the log is not the place for more. */
  #print(line: string): void {
    const second = Math.floor(this.#fx.nowMs() / 1_000)
    const lines = this.#printed.second === second ? this.#printed.lines + 1 : 1
    this.#printed = { second, lines }
    if (lines <= PRINTED_LINES_A_SECOND) this.#say({ kind: 'note', text: line.slice(0, LONGEST_PRINTED_LINE) })
    else if (lines === PRINTED_LINES_A_SECOND + 1) this.#say({ kind: 'note', text: 'prints more than the log shows' })
  }

  async #endsWithin(durationMs: number): Promise<boolean> {
    const patience = new AbortController()
    const isOver = await Promise.race([this.#over.then(() => true), this.#fx.sleep(durationMs, patience.signal).then(() => false)])
    patience.abort()
    return isOver
  }
}
