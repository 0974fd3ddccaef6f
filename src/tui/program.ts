/**
 * The dashboard without a screen: a session, the model of what is shown, and what happens to it. Whoever hosts it draws the model and
 * hands it keys: the terminal, a component of Ink, `streamtop frame`.
 *
 * Nothing runs while nothing happens: frames are drawn when the model has changed, and the clock ticks only while the queries may.
 */
import type { Effects } from '../effects.js'
import { asStreamtopError } from '../errors.js'
import type { Session } from '../session/session.js'
import type { WorkspaceService } from '../session/workspace-service.js'
import { DrawSchedule } from './draw-schedule.js'
import type { KeyPress } from './keys.js'
import type { Size } from './line.js'
import type { Effect, Input, Model } from './model.js'
import { createNewFile } from './new-file.js'
import type { PlayConductor } from './play-conductor.js'
import type { PlaySetting } from './play-state.js'
import { initialModel, reduce } from './reduce.js'

/** A session, and who reads its tables. */
export interface ProgramSession {
  readonly session: Session
  readonly reader: Pick<WorkspaceService, 'rows' | 'history'>
  /** What is played in it; null for nothing. */
  readonly play?: PlayConductor | null
  /** Closes the session, and what was opened with it; the session alone unless given. */
  readonly close?: () => Promise<void>
}

export interface ProgramHost {
  /** Of what is drawn: how far it can be scrolled depends on it. */
  readonly size: Size
  draw(model: Model): void
  /** `:theme NAME`. @throws usage for a name that is none */
  theme(name: string): void
  /** The model as SVG. */
  picture(model: Model): string
  /** Ctrl-z. */
  suspend(): void
  /** Ctrl-l: the picture is lost. */
  redraw(): void
  /** A caption of a play is shown. */
  chapter?(title: string, text: string): void
}

export class Program {
  /** Resolves when the session is closed after a `quit`; rejects with what made it impossible to go on, closed as well. */
  readonly ended: Promise<void>
  readonly #open: (signal: AbortSignal) => Promise<ProgramSession>
  readonly #host: ProgramHost
  readonly #fx: Effects
  readonly #schedule: DrawSchedule
  readonly #over = new AbortController()
  #resolve: () => void = () => {}
  #reject: (error: unknown) => void = () => {}
  #model: Model
  #opened: ProgramSession | null = null
  #opening: Promise<ProgramSession | null> = Promise.resolve(null)
  #unsubscribe: () => void = () => {}
  #ticking: AbortController | null = null
  #isClosing = false
  #hurrying: AbortController | null = null

  /**
   * @param open begins the session; it loads what is heavy, and the first frame is drawn before it is called. Its signal fires when
   *   nobody waits for the session any more.
   * @param setting what is played in it; null for nothing
   */
  constructor(open: (signal: AbortSignal) => Promise<ProgramSession>, host: ProgramHost, fx: Effects, setting: PlaySetting | null = null) {
    this.#open = open
    this.#host = host
    this.#fx = fx
    this.#model = initialModel(fx.nowMs(), setting)
    this.#schedule = new DrawSchedule(() => this.#draw(), fx)
    this.ended = new Promise((resolve, reject) => {
      this.#resolve = resolve
      this.#reject = reject
    })
  }

  get model(): Model {
    return this.#model
  }

  /** Draws the first frame and begins the session. */
  start(): void {
    this.#guard(() => this.#draw())
    this.#opening = this.#begin()
  }

  press(key: KeyPress): void {
    if (this.#isClosing && key.name === 'ctrl-c') return this.#hurry()
    this.#catchUp()
    this.#take({ kind: 'key', key }, 'key')
  }

  /** What was drawn is not there any more, or the size is another. */
  drawAnew(): void {
    this.#schedule.ask('key')
  }

  /** Stops every query and ends. */
  quit(): void {
    void this.#close(null)
  }

  /** Ends because of an error. */
  fail(error: unknown): void {
    void this.#close({ error })
  }

  async #begin(): Promise<ProgramSession | null> {
    try {
      const opened = await this.#open(this.#over.signal)
      this.#opened = opened
      if (this.#over.signal.aborted) await closeAll(opened)
      else {
        this.#unsubscribe = opened.session.subscribe((message) => this.#take(message, 'event'))
        // Quit while it was opening: no line is to be played in a workspace that is being closed.
        if (this.#isClosing) opened.play?.stop()
        else opened.play?.begin((event) => this.#take({ kind: 'play', event }, 'key')).catch((error) => this.fail(error))
      }
      return opened
    } catch (error) {
      this.fail(error)
      return null
    }
  }

  async #close(failure: { readonly error: unknown } | null): Promise<void> {
    if (this.#isClosing) return
    this.#isClosing = true
    this.#opened?.play?.stop()
    try {
      const opened = this.#opened ?? (failure ? null : await this.#openedSoon())
      if (opened) await closeAll(opened)
    } catch (error) {
      return this.#finish(failure ?? { error })
    }
    this.#finish(failure)
  }

  /** What is still opening; null when that takes longer than somebody who quits will wait. A configuration's code may never come to an end. */
  async #openedSoon(): Promise<ProgramSession | null> {
    const patience = new AbortController()
    const opened = await Promise.race([this.#opening, this.#fx.sleep(LONGEST_OPENING_MS, patience.signal).then(() => null)])
    patience.abort()
    return opened
  }

  /**
   * Asked to end, and impatient: what runs is killed, and the rest has a moment to let go. A workspace that is removed while somebody is
   * at work in it would come back. Who has no patience for that either ends at once.
   */
  #hurry(): void {
    if (this.#hurrying !== null) return this.#finish()
    this.#hurrying = new AbortController()
    if (this.#opened === null) this.#over.abort()
    else this.#opened.session.hurry()
    void this.#fx.sleep(LONGEST_HURRY_MS, this.#hurrying.signal).then(() => this.#finish())
  }

  #finish(failure: { readonly error: unknown } | null = null): void {
    this.#over.abort()
    this.#hurrying?.abort()
    this.#schedule.stop()
    this.#ticking?.abort()
    this.#unsubscribe()
    if (failure) this.#reject(failure.error)
    else this.#resolve()
  }

  #take(input: Input, why: 'event' | 'key'): void {
    if (this.#over.signal.aborted) return
    this.#guard(() => {
      const { model, effects } = reduce(this.#model, input, this.#host.size)
      const isChanged = model !== this.#model
      this.#model = model
      for (const effect of effects) this.#do(effect)
      this.#keepTicking()
      if (isChanged) this.#schedule.ask(why)
    })
  }

  #do(effect: Effect): void {
    const session = this.#opened?.session
    const reader = this.#opened?.reader
    switch (effect.kind) {
      case 'perform':
        return this.#afterwards(
          session?.perform(effect.action, effect.by).then((text) => ({ kind: 'outcome', message: { kind: 'done', text, atMs: this.#fx.nowMs() } })),
        )
      case 'watch':
        return session?.watch(effect.query, effect.batchLimit)
      case 'read-rows':
        return this.#afterwards(reader?.rows(effect.table, ROWS_LIMIT).then((content) => ({ kind: 'rows', table: effect.table, content })))
      case 'read-history':
        return this.#afterwards(reader?.history(effect.table, HISTORY_LIMIT).then((content) => ({ kind: 'history', table: effect.table, content })))
      case 'play-next':
        return this.#opened?.play?.next(effect.afterMs)
      case 'play-pause':
        return this.#opened?.play?.pause()
      case 'play-resume':
        return this.#opened?.play?.goOn()
      case 'play-stop':
        return this.#opened?.play?.stop()
      case 'chapter':
        return this.#host.chapter?.(effect.title, effect.text)
      case 'theme':
        return this.#afterwards(Promise.resolve().then(() => void this.#host.theme(effect.name)))
      case 'picture':
        return this.#afterwards(Promise.resolve().then(() => this.#savePicture(effect.path)))
      case 'suspend':
        return this.#host.suspend()
      case 'redraw':
        return this.#host.redraw()
      case 'quit':
        return this.quit()
    }
  }

  /** What was asked for is answered on the screen, a refusal too. */
  #afterwards(asked: Promise<Input | undefined> | undefined): void {
    void asked?.then(
      (input) => {
        if (input) this.#take(input, 'key')
      },
      (error: unknown) => {
        const { message, hint } = asStreamtopError(error)
        this.#take({ kind: 'outcome', message: { kind: 'refused', text: hint === undefined ? message : `${message}; ${hint}`, atMs: this.#fx.nowMs() } }, 'key')
      },
    )
  }

  /** @throws usage when the file is there already, or cannot be made */
  #savePicture(path: string): Input {
    createNewFile(path, this.#host.picture(this.#model), this.#fx)
    return { kind: 'outcome', message: { kind: 'done', text: `this screen is in ${path}`, atMs: this.#fx.nowMs() } }
  }

  /** The clock ticks with the seconds, unless all is paused. */
  #keepTicking(): void {
    const isMoving = this.#model.state !== null && !this.#model.state.isPaused
    if (isMoving === (this.#ticking !== null)) return
    this.#ticking?.abort()
    this.#ticking = null
    if (!isMoving || this.#over.signal.aborted) return
    const ticking = new AbortController()
    this.#ticking = ticking
    void this.#tick(ticking.signal)
  }

  async #tick(signal: AbortSignal): Promise<void> {
    for (;;) {
      await this.#fx.sleep(1_000 - (this.#fx.nowMs() % 1_000), signal)
      if (signal.aborted) return
      this.#take({ kind: 'tick', nowMs: this.#fx.nowMs() }, 'event')
    }
  }

  /** After a pause the clock has stood still. */
  #catchUp(): void {
    const nowMs = this.#fx.nowMs()
    if (nowMs - this.#model.nowMs >= 1_000) this.#take({ kind: 'tick', nowMs }, 'key')
  }

  #draw(): void {
    this.#guard(() => this.#host.draw(this.#model))
  }

  #guard(work: () => void): void {
    try {
      work()
    } catch (error) {
      this.fail(error)
    }
  }
}

function closeAll({ session, close }: ProgramSession): Promise<void> {
  return close === undefined ? session.close() : close()
}

/** When it is quit before it is open. */
const LONGEST_OPENING_MS = 3_000
/** When it was asked twice to end. */
const LONGEST_HURRY_MS = 1_000
/** What the screens of a table's rows and versions can scroll through. */
const ROWS_LIMIT = 500
const HISTORY_LIMIT = 500
