/** Plays a schedule: does what it says, has everything checked after each recovery, and at the end without faults. */
import { inlineRunner } from '../../src/engine/inline-runner.js'
import { dropTables } from '../../src/engine/drop-table.js'
import { replayNewestBatch, resetQuery } from '../../src/engine/reset.js'
import type { Step } from '../../src/engine/steps.js'
import { StreamtopError } from '../../src/errors.js'
import { Store } from '../../src/store/store.js'
import { openEmbeddedProducer } from '../../src/topic/embedded-producer.js'
import { openEmbeddedTopic } from '../../src/topic/embedded-topic.js'
import { badRecord, order } from './orders-sent.js'
import { randomOf } from './random.js'
import { type Act, ACTS_MAX, actOf, type Kill, type Schedule } from './schedule.js'
import { nextLife } from './torture-effects.js'
import { TorturedWorkspace } from './tortured-workspace.js'
import { Died, nobodyLives, type WatchedLife, watchLife } from './watched-life.js'

export interface Played {
  readonly kills: number
  /** By step, or by the kind of call. */
  readonly killsBy: Readonly<Record<string, number>>
  readonly checks: number
  readonly looks: number
  /** The numbers of the acts that were done. */
  readonly acts: readonly number[]
  /** What was done and what came of it, a line each. */
  readonly trace: readonly string[]
  readonly violations: readonly string[]
}

export interface PlayOptions {
  /** The acts that are done, all of them; without it acts are done until there were as many kills as the schedule has. */
  readonly only?: ReadonlySet<number>
  /** Whether a workspace with violations is kept. */
  readonly keep?: boolean
}

export async function playSchedule(schedule: Schedule, { only, keep = false }: PlayOptions = {}): Promise<Played> {
  const play = new Play(schedule, await TorturedWorkspace.make(schedule))
  try {
    await play.all(only)
  } catch (error) {
    play.violations.push((error as Error).stack ?? String(error))
  }
  nobodyLives()
  if (keep && play.violations.length > 0) play.say(`the workspace is kept: ${play.workspace.folder}`)
  else play.workspace.remove()
  const { kills, killsBy, checks, looks, acts, trace, violations } = play
  return { kills, killsBy, checks, acts, looks, trace, violations }
}

type Run = Extract<Act, { readonly kind: 'run' }>

const UNDISTURBED: Omit<Run, 'query'> = { kind: 'run', isFed: false, toggle: false, maxPerTrigger: null, kill: null, looks: [], staleChecksum: false }

class Play {
  readonly workspace: TorturedWorkspace
  readonly trace: string[] = []
  readonly violations: string[] = []
  readonly killsBy: Record<string, number> = {}
  readonly acts: number[] = []
  kills = 0
  checks = 0
  looks = 0
  readonly #schedule: Schedule
  #latest = 0
  #killsSinceCheck = 0

  constructor(schedule: Schedule, workspace: TorturedWorkspace) {
    this.#schedule = schedule
    this.workspace = workspace
  }

  say(line: string): void {
    this.trace.push(line)
  }

  async all(only?: ReadonlySet<number>): Promise<void> {
    for (let index = 0; index < ACTS_MAX && (only !== undefined || this.kills < this.#schedule.kills); index++) {
      if (only !== undefined && !only.has(index)) continue
      this.acts.push(index)
      const act = actOf(this.#schedule, index)
      const [what, came] = await this.#do(act, index)
      this.say(`${index} ${what}: ${came}`)
      if (this.violations.length > 0) return
    }
    await this.#end()
  }

  /** Without faults everything recovers; then, not each time, the next batch of each query commits, and a start with nothing to do does nothing. */
  async #end(): Promise<void> {
    const { seed, number } = this.#schedule
    const random = randomOf(`end ${seed} ${number}`)
    for (const round of random.chance(0.5) ? ['recover', 'go on'] : ['recover']) {
      await this.#send(1, 0, random)
      for (const index of this.workspace.queries.keys()) {
        const [what, came] = await this.#run({ ...UNDISTURBED, query: index })
        this.say(`${round}: ${what}: ${came}`)
        if (this.violations.length > 0) return
      }
      await this.#check({ hasGoneOn: round === 'go on', said: await this.workspace.said() })
      if (this.violations.length > 0) return
    }
    if (random.chance(0.25)) {
      await this.#run({ ...UNDISTURBED, query: random.below(this.workspace.queries.length) })
      await this.#check({ isQuiet: true })
    }
    this.say(`at the end: ${this.workspace.digest()}`)
  }

  async #do(act: Act, index: number): Promise<[what: string, came: string]> {
    const random = randomOf(`do ${this.#schedule.seed} ${this.#schedule.number} ${index}`)
    if (act.kind === 'send') {
      await this.#send(act.good, act.bad, random)
      return [`send ${act.good} orders and ${act.bad} bad records`, 'sent']
    }
    if (act.kind === 'replay') return this.#replay(act.query, act.kill)
    if (act.kind === 'optimize' || act.kind === 'vacuum') return this.#tidy(act)
    if (act.kind === 'rival') return this.#rival(act.query)
    if (act.kind === 'reset') return this.#reset(act.query, act.kill)
    const query = this.#queryOf(act)
    // A life with nothing to do dies nowhere of interest.
    if (act.isFed || this.workspace.states[query]?.isCaughtUp) {
      await this.#send(1 + random.below(3), random.chance(0.2) ? 1 : 0, random)
      if (query !== 0) await this.#run({ ...UNDISTURBED, query: 0 })
      this.#latest = query
    }
    const [what, came] = await this.#run(act)
    if (this.violations.length > 0) return [what, came]
    const { hasDied } = this.workspace.states[query] ?? {}
    if (hasDied && random.chance(0.15)) await this.#check({ isUnhealed: true })
    if (!hasDied && (this.#killsSinceCheck > 0 || random.chance(0.2))) {
      await this.#check({})
      if (random.chance(0.25)) {
        await this.#run({ ...UNDISTURBED, query })
        await this.#check({ isQuiet: true })
      }
    }
    return [what, came]
  }

  async #check(more: Parameters<TorturedWorkspace['check']>[0]): Promise<void> {
    this.checks++
    if (more?.isUnhealed === undefined) this.#killsSinceCheck = 0
    this.violations.push(...(await this.workspace.check(more)))
  }

  async #send(good: number, bad: number, random: ReturnType<typeof randomOf>): Promise<void> {
    const { workspace } = this
    nobodyLives()
    const orders = Array.from({ length: good }, (_, index) => order(random, workspace.sent.length + index))
    const rejected = Array.from({ length: bad }, () => badRecord(random))
    const producer = openEmbeddedProducer(workspace.folder, 'orders', { partitions: this.#schedule.partitions }, workspace.fx)
    await producer.send([...rejected, ...orders].map(({ record }) => record))
    await producer.close()
    workspace.sent.push(...orders.map(({ sent }) => sent))
    workspace.bad.push(...rejected.map(({ bad }) => bad))
    for (const state of workspace.states) state.isCaughtUp = false
  }

  /** Where bronze is not there yet, it is run instead of what would read it. */
  #queryOf({ query }: Run): number {
    if (!this.workspace.hasBronze()) return 0
    return query === 'again' ? this.#latest : query
  }

  async #run(act: Run): Promise<[what: string, came: string]> {
    const { workspace } = this
    const index = this.#queryOf(act)
    const query = workspace.queries[index]
    if (!query) throw new Error(`there is no query ${index}`)
    this.#latest = index
    if (act.staleChecksum) workspace.leaveStaleChecksums(index)
    const choice = this.#schedule.idempotence[index]
    const idempotent = !query.canToggle || choice === 'on' || (choice === 'changing' && act.toggle)
    const option = index === 0 ? 'maxOffsetsPerTrigger' : 'maxFilesPerTrigger'
    const { kill } = act
    const what = `run ${query.promise.name}${idempotent ? '' : ' without idempotence'}${act.maxPerTrigger ? `, ${act.maxPerTrigger} a batch` : ''}${killText(kill)}`
    let running: ReturnType<ReturnType<typeof inlineRunner>['start']> | null = null
    const life = this.#watch(act, () => running?.kill())
    const steps: string[] = []
    running = inlineRunner(openEmbeddedTopic, workspace.newLife()).start({
      workspace: workspace.folder,
      definition: query.definition,
      options: { sourceOptions: act.maxPerTrigger === null ? [] : [`${option}=${act.maxPerTrigger}`], appId: null, intervalMs: null, acceptGap: false },
      idempotent,
      armed: kill !== null && 'step' in kill ? kill : null,
      dwellMs: 0,
      hasUpstream: false,
      listen: (event) => {
        if (event.kind === 'step' && event.event.step === 'batch-committed') steps.push(`${event.event.batchId}`)
      },
    })
    const ending = await running.ending
    await new Promise((resolve) => setImmediate(resolve))
    const batches = steps.length > 0 ? `committed ${steps.join(' ')}` : 'committed nothing'
    this.#ran(index, ending.kind === 'ended')
    if (ending.kind === 'ended') return [what, batches]
    if (ending.kind === 'failed' && !(ending.error instanceof Died)) {
      const { code } = ending.error as Partial<StreamtopError>
      this.violations.push(`${query.promise.name} failed (${code ?? 'not an error of its own'}): ${ending.error.stack}`)
      return [what, 'failed']
    }
    return [what, `${batches}, ${this.#died(life, ending.kind === 'killed' ? ending.at.step : null)}`]
  }

  /** A query has one life at a time; and while it has written its files, a vacuum beside it takes none of them. */
  async #rival(asked: number): Promise<[what: string, came: string]> {
    const { workspace } = this
    const index = workspace.hasBronze() ? asked : 0
    await this.#send(1, 0, randomOf(`rival ${this.#schedule.seed} ${this.#schedule.number} ${this.trace.length}`))
    if (index !== 0) await this.#run({ ...UNDISTURBED, query: 0 })
    const query = workspace.queries[index]
    if (!query) throw new Error(`there is no query ${index}`)
    nobodyLives()
    let onHeld: (at: Step) => void = () => {}
    const begin = (isHeld: boolean) =>
      inlineRunner(openEmbeddedTopic, workspace.newLife()).start({
        workspace: workspace.folder,
        definition: query.definition,
        options: { sourceOptions: [], appId: null, intervalMs: null, acceptGap: false },
        idempotent: !query.canToggle || this.#schedule.idempotence[index] !== 'off',
        armed: null,
        dwellMs: 0,
        isHeld,
        hasUpstream: false,
        listen: (event) => event.kind === 'held' && event.isHeld && onHeld(event.at.step),
      })
    const nextHeld = () =>
      new Promise<Step>((resolve) => {
        onHeld = resolve
      })
    let held = nextHeld()
    const holder = begin(true)
    let at: Step | 'over' = await Promise.race([held, holder.ending.then(() => 'over' as const)])
    const rival = await begin(false).ending
    const isRefused = rival.kind === 'failed' && rival.error instanceof StreamtopError && rival.error.code === 'concurrent-query'
    if (!isRefused) this.violations.push(`two lives of ${query.promise.name} at once: the second ${rival.kind}`)
    while (at !== 'over' && at !== 'files-written') {
      held = nextHeld()
      holder.step()
      at = await Promise.race([held, holder.ending.then(() => 'over' as const)])
    }
    const removed = at === 'over' ? 0 : this.#vacuumAll(query.definition.writes)
    holder.change({ isHeld: false })
    const ending = await holder.ending
    if (ending.kind !== 'ended')
      this.violations.push(`${query.promise.name}, held and let go, ${ending.kind}: ${ending.kind === 'failed' && ending.error.stack}`)
    this.#ran(index, true)
    return [`two lives of ${query.promise.name}, and a vacuum`, `the second was refused, ${removed} files were removed`]
  }

  #vacuumAll(names: readonly string[]): number {
    const { workspace } = this
    const store = Store.open(workspace.folder, workspace.newLife())
    try {
      const tables = workspace.tables(false).filter((table) => names.includes(table))
      return tables.reduce((sum, table) => sum + store.vacuum(table, { olderThanMs: 0, force: true }).files.length, 0)
    } finally {
      store.close()
    }
  }

  #ran(index: number, isCaughtUp: boolean): void {
    for (const [other, state] of this.workspace.states.entries()) {
      if (other === index) Object.assign(state, { hasRun: true, isCaughtUp, hasDied: !isCaughtUp })
      else if (index === 0) state.isCaughtUp = false
      state.isUnhealed = !isCaughtUp && (state.isUnhealed || other === index)
    }
  }

  /**
   * Bronze is not vacuumed: a stream that has not come so far needs the files that an optimize took out. With no retention at all the
   * others lose everything but their newest version.
   */
  async #tidy({ kind, table: number, kill, looks }: Extract<Act, { kind: 'optimize' | 'vacuum' }>): Promise<[what: string, came: string]> {
    const { workspace } = this
    const tables = workspace.tables(kind === 'optimize')
    const table = tables[number % Math.max(1, tables.length)]
    if (table === undefined) return [kind, 'there is no table']
    const what = `${kind} ${table}${killText(kill)}`
    if (kind === 'optimize' && table === 'bronze_orders') for (const state of workspace.states.slice(1)) state.isCaughtUp = false
    let store: Store | null = null
    const life = this.#watch({ kill, looks }, () => store?.close())
    try {
      store = Store.open(workspace.folder, workspace.newLife())
      if (kind === 'optimize') return [what, `${(await store.optimize(table)).filesRemoved} files`]
      return [what, `${store.vacuum(table, { olderThanMs: 0, force: true }).files.length} files`]
    } catch (error) {
      // A dead life has lost its handles: what it stumbles over is not its own.
      if (life.diedBefore === null) throw error
      return [what, this.#died(life, null)]
    } finally {
      store?.close()
    }
  }

  async #replay(index: number, kill: Kill | null): Promise<[what: string, came: string]> {
    const { workspace } = this
    const { name } = workspace.queries[index]?.promise ?? { name: '' }
    const what = `replay ${name}${killText(kill)}`
    const life = this.#watch({ kill, looks: [] }, () => {})
    try {
      const batch = await replayNewestBatch(workspace.folder, name, workspace.newLife())
      this.#unsettle(index)
      return [what, `batch ${batch}`]
    } catch (error) {
      if (error instanceof Died) {
        this.#unsettle(index)
        return [what, this.#died(life, null)]
      }
      if (error instanceof StreamtopError && error.code === 'usage') return [what, 'nothing to replay']
      throw error
    }
  }

  /** Done until it is done: between the two the tables are there without the checkpoint, and a run would write them twice. */
  async #reset(index: number, kill: Kill | null): Promise<[what: string, came: string]> {
    const { workspace } = this
    const { definition } = workspace.queries[index] ?? {}
    if (!definition) throw new Error(`there is no query ${index}`)
    const what = `reset ${definition.name}${killText(kill)}`
    const definitions = workspace.queries.map((query) => query.definition)
    this.#unsettle(index)
    const came: string[] = []
    for (const once of [kill, null]) {
      const life = this.#watch({ kill: once, looks: [2, 5] }, () => {})
      const fx = workspace.newLife()
      try {
        await resetQuery(workspace.folder, definition.name, fx)
        await dropTables(workspace.folder, definition.writes, definitions, fx)
        return [what, [...came, 'done'].join(', ')]
      } catch (error) {
        if (!(error instanceof Died)) throw error
        came.push(this.#died(life, null))
      }
    }
    throw new Error('a reset that nobody kills died')
  }

  #unsettle(index: number): void {
    const state = this.workspace.states[index]
    if (state) state.isCaughtUp = false
  }

  #watch({ kill, looks }: Pick<Run, 'kill' | 'looks'>, letGo: () => void): WatchedLife {
    const { workspace } = this
    const look = () => {
      this.looks++
      workspace.look()
    }
    const dieAt = kill !== null && 'call' in kill ? kill.call : null
    return watchLife({ dieAt, looks: new Set(looks), look, letGo }, (path) => workspace.shortened(path))
  }

  #died({ diedBefore }: WatchedLife, step: string | null): string {
    nobodyLives()
    nextLife()
    this.kills++
    this.#killsSinceCheck++
    const by = step ?? `before ${diedBefore?.split(' ')[0] ?? 'nothing'}`
    this.killsBy[by] = (this.killsBy[by] ?? 0) + 1
    this.workspace.look()
    this.looks++
    return `died ${step === null ? `before ${diedBefore}` : `at ${step}`}`
  }
}

function killText(kill: Kill | null): string {
  if (kill === null) return ''
  return 'step' in kill ? `, killed at ${kill.step}:${kill.occurrence}` : `, killed before call ${kill.call}`
}
