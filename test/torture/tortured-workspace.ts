/** A workspace that is tortured: what was sent to it and what each query has done, and with it what is promised of it. */
import { createHash } from 'node:crypto'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Effects } from '../../src/effects.js'
import type { Batch } from '../../src/engine/batch.js'
import { OverlaidLog } from '../../src/observe/overlaid-log.js'
import { Observer } from '../../src/observe/observe.js'
import { LogMemory } from '../../src/observe/table-memory.js'
import { type Look, openChecker, type Promised, type QueryPromise, type Sent, type SentBad } from '../checker.mjs'
import { type TorturedQuery, torturedQueries } from './queries.js'
import { randomOf } from './random.js'
import type { Schedule } from './schedule.js'
import { firstLife, tortureEffects } from './torture-effects.js'

/** In memory where there is such a folder: nothing here is about power, and a sync would only cost time. */
const SHARED_MEMORY = '/dev/shm'

export interface QueryState {
  hasRun: boolean
  isCaughtUp: boolean
  /** Its newest life died. */
  hasDied: boolean
  /** A life of it died, and no life of any query has come to its end since: who came first may have died while healing. */
  isUnhealed: boolean
}

export class TorturedWorkspace {
  readonly folder: string
  readonly queries: readonly TorturedQuery[]
  readonly states: readonly QueryState[]
  readonly fx: Effects
  readonly sent: Sent[] = []
  readonly bad: SentBad[] = []
  /** What was found wrong by looking on. */
  readonly wrong: string[] = []
  readonly #schedule: Schedule
  readonly #checker: Awaited<ReturnType<typeof openChecker>>
  readonly #readerFx: Effects
  readonly #memory = new LogMemory()
  readonly #observer: Observer
  #looks: Look[] = []

  private constructor(schedule: Schedule, folder: string, checker: Awaited<ReturnType<typeof openChecker>>) {
    this.#schedule = schedule
    this.folder = folder
    this.#checker = checker
    const all = torturedQueries((query, batch) => this.#batchBegins(query, batch))
    this.queries = all.filter((_, index) => schedule.queries.includes(index))
    this.states = this.queries.map(() => ({ hasRun: false, isCaughtUp: false, hasDied: false, isUnhealed: false }))
    this.fx = tortureEffects(randomOf(`world ${schedule.seed} ${schedule.number}`))
    this.#readerFx = tortureEffects(randomOf('reader'))
    const definitions = this.queries.map(({ definition }) => definition)
    this.#observer = new Observer(folder, definitions, this.#readerFx)
  }

  static async make(schedule: Schedule): Promise<TorturedWorkspace> {
    firstLife()
    const folder = mkdtempSync(join(existsSync(SHARED_MEMORY) ? SHARED_MEMORY : tmpdir(), 'streamtop-torture-'))
    return new TorturedWorkspace(schedule, folder, await openChecker(folder))
  }

  remove(): void {
    this.#checker.close()
    rmSync(this.folder, { recursive: true, force: true })
  }

  /** The world for one more life: what it remembers of its process is its own. */
  newLife(): Effects {
    return { ...this.fx }
  }

  path(...parts: string[]): string {
    return join(this.folder, ...parts)
  }

  /** A path without the folder and without what is random in a temp file's name. */
  shortened(path: string): string {
    return path.slice(this.folder.length + 1).replace(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}|\d+-\d+-(?=[0-9a-f]{8}-)/g, '')
  }

  hasBronze(): boolean {
    return existsSync(this.path('tables', 'bronze_orders', '_delta_log', `${'0'.repeat(20)}.json`))
  }

  /** Tables that are there, bronze among them only when `withBronze`. */
  tables(withBronze: boolean): string[] {
    const names = this.queries.flatMap(({ definition }) => definition.writes)
    return names.filter((name) => (withBronze || name !== 'bronze_orders') && existsSync(this.path('tables', name, '_delta_log', `${'0'.repeat(20)}.json`)))
  }

  /** A reader of streamtop looks at every table. */
  look(): void {
    if (!existsSync(this.path('tables', '_log.db'))) return
    const log = OverlaidLog.open(this.folder, this.#readerFx, this.#memory)
    try {
      const seen = log.tableNames().flatMap((name) => {
        const snapshot = log.snapshot(name)
        return snapshot === null ? [] : [[name, { id: snapshot.tableId, version: snapshot.version, files: snapshot.files.map(({ path }) => path) }] as const]
      })
      this.#looks.push(Object.fromEntries(seen))
    } catch (error) {
      this.wrong.push(`a reader could not read: ${(error as Error).message}`)
    } finally {
      log.close()
    }
  }

  /** Checksums of files of which nobody knows any more, where the next files will lie. */
  leaveStaleChecksums(index: number): void {
    const { name, table } = this.queries[index]?.promise ?? { name: '', table: '' }
    const logs = [...['offsets', 'commits'].map((log) => this.path('checkpoints', name, log)), this.path('tables', table, '_delta_log')]
    for (const log of logs.filter((folder) => existsSync(folder))) {
      const newest = Math.max(-1, ...readdirSync(log).flatMap((entry) => (/^\d+(\.json)?$/.test(entry) ? [Number.parseInt(entry, 10)] : [])))
      const next = log.endsWith('_delta_log') ? `${String(newest + 1).padStart(20, '0')}.json` : String(newest + 1)
      writeFileSync(join(log, `.${next}.crc`), 'crc\0 of an earlier file')
    }
  }

  async check(more: Partial<Promised> & { readonly isUnhealed?: boolean; readonly hasGoneOn?: boolean } = {}): Promise<string[]> {
    const { isUnhealed = false, hasGoneOn = false, ...rest } = more
    // A life that died before it made anything leaves nothing to be checked.
    if (!existsSync(this.path('tables', '_log.db'))) return this.wrong.splice(0)
    const queries = this.queries.map(({ promise }, index): QueryPromise => {
      const exactlyOnce = this.#schedule.idempotence[index] === 'on' || !this.queries[index]?.canToggle
      const state = this.states[index]
      return {
        ...promise,
        exactlyOnce,
        skipsWhatItHas: true,
        caughtUp: state?.isCaughtUp ?? false,
        hasDied: state?.hasDied ?? false,
        isUnhealed: isUnhealed && (state?.isUnhealed ?? false),
        hasGoneOn,
      }
    })
    const found = await this.#checker.check({ topic: 'orders', sent: this.sent, bad: this.bad, queries, looks: this.#looks.splice(0), ...rest })
    return [...this.wrong.splice(0), ...found]
  }

  /** The counts that streamtop tells of every table, and what it says of every query against what is promised. */
  async said(): Promise<NonNullable<Promised['said']>> {
    const status = await this.#observer.observe()
    for (const [index, query] of status.queries.entries()) {
      const isOnce = this.#schedule.idempotence[index] === 'on' || !this.queries[index]?.canToggle
      if (query.missing !== null && query.missing > 0) this.wrong.push(`status says that ${query.name} misses ${query.missing} rows`)
      if (isOnce && query.verdict !== 'exactly-once' && this.states[index]?.hasRun) this.wrong.push(`status says that ${query.name} is ${query.verdict}`)
    }
    return status.tables.flatMap(({ name, rows, distinct, orphans }) =>
      rows === null || distinct === null ? [] : [{ table: name, rows, distinct, ...(orphans === null ? {} : { orphans }) }],
    )
  }

  /** A digest of everything that lies below tables and checkpoints, but for SQLite's files. */
  digest(): string {
    const hash = createHash('sha256')
    for (const part of ['tables', 'checkpoints']) {
      const entries = readdirSync(this.path(part), { recursive: true, withFileTypes: true }).filter(
        (entry) => entry.isFile() && !/\.db(-\w+)?$/.test(entry.name),
      )
      for (const path of entries.map((entry) => join(entry.parentPath, entry.name)).sort())
        hash.update(path.slice(this.folder.length)).update(readFileSync(path))
    }
    return hash.digest('hex').slice(0, 16)
  }

  /** The time and range that a batch is told are those that were logged. */
  #batchBegins(query: string, batch: Batch): void {
    const path = this.path('checkpoints', query, 'offsets', String(batch.id))
    const [, metadata = '{}', end] = existsSync(path) ? readFileSync(path, 'utf8').split('\n') : []
    if (JSON.parse(metadata).batchTimestampMs !== batch.timestampMs || end !== batch.range.end)
      this.wrong.push(`batch ${batch.id} of ${query} was told ${batch.timestampMs} and ${batch.range.end}, and ${metadata} and ${end} are logged`)
  }
}
