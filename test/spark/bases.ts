/** The workspaces that histories begin with, made once by streamtop and copied: a topic whose records are not all in `bronze_orders` yet. */
import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { realEffects } from '../../src/effects.js'
import { inlineRunner } from '../../src/engine/inline-runner.js'
import { bronzeOrders } from '../../src/queries/bronze-orders.js'
import { openEmbeddedTopic } from '../../src/topic/embedded-topic.js'
import { CONFIG } from './histories.js'
import { GROUP_SIZE, makeRecords, NINE_EVENTS, type SeededRecord } from './orders-of-a-seed.js'
import { seeded } from './seeded.js'
import { streamtop } from './streamtop-command.js'

export interface Base {
  readonly folder: string
  /** What was sent, in the order of its offsets. */
  readonly records: readonly SeededRecord[]
  /** How many of them `bronze_orders` has taken. */
  readonly taken: number
}

export class Bases {
  readonly #made = new Map<string, Promise<Base>>()
  readonly #folders: string[] = []

  constructor(private readonly dist: string) {}

  get(name: string): Promise<Base> {
    const made = this.#made.get(name) ?? this.#make(name)
    this.#made.set(name, made)
    return made
  }

  /** A workspace of its own with a base's content, or a copy of another workspace. */
  copy(folder: string): string {
    const copy = this.#newFolder()
    cpSync(folder, copy, { recursive: true })
    return copy
  }

  /**
   * One more group of records into `bronze_orders`, as one version: `run bronze_orders --option maxOffsetsPerTrigger=5 --crash-at
   * batch-committed`, in this process, for it is not what is compared and a hundred starts take their time.
   */
  async more(workspace: string): Promise<void> {
    const running = inlineRunner(openEmbeddedTopic, realEffects).start({
      workspace,
      definition: bronzeOrders,
      options: { sourceOptions: [`maxOffsetsPerTrigger=${GROUP_SIZE}`], appId: null, intervalMs: null, acceptGap: false },
      idempotent: null,
      armed: { step: 'batch-committed', occurrence: 1 },
      dwellMs: 0,
      hasUpstream: false,
      listen: () => {},
    })
    const ending = await running.ending
    if (ending.kind !== 'killed')
      throw new Error(`bronze_orders was to take one batch and ${ending.kind}`, ending.kind === 'failed' ? { cause: ending.error } : {})
  }

  remove(...folders: readonly string[]): void {
    for (const folder of folders.length > 0 ? folders : this.#folders) rmSync(folder, { recursive: true, force: true })
  }

  #make(name: string): Promise<Base> {
    if (name === 'walk-through') return this.#walkThrough(true)
    if (name === 'walk-through-plain') return this.#walkThrough(false)
    return this.#seeded(name)
  }

  async #seeded(name: string): Promise<Base> {
    const folder = this.#newFolder()
    const from = seeded(`base/${name}`)
    const records = makeRecords(from, 6 * GROUP_SIZE)
    await this.#send(folder, records)
    const groups = from.whole(1, 3)
    for (let group = 0; group < groups; group++) await this.more(folder)
    return { folder, records, taken: groups * GROUP_SIZE }
  }

  /** The walk-through of the README, whole or up to the eighteen rows, and a group more in the topic. */
  async #walkThrough(isWhole: boolean): Promise<Base> {
    const folder = this.#newFolder()
    const step = async (line: string, said: string): Promise<void> => {
      const stdout = await streamtop(this.dist, folder, ...line.split(' '))
      if (!stdout.includes(said)) throw new Error(`streamtop ${line} said ${stdout}`)
    }
    await step('produce --all', '')
    await step('run bronze_orders', 'bronze_orders has 9 rows, 9 different')
    await step('run events_copy --crash', 'events_copy has 9 rows, 9 different')
    await step('run events_copy', 'events_copy has 18 rows, 9 different')
    if (isWhole) {
      await step('reset events_copy', '')
      await step('drop events_copy', '')
      await step('run events_copy --idempotent --crash', 'events_copy has 9 rows, 9 different')
      await step('run events_copy --idempotent', 'events_copy has 9 rows, 9 different')
      await step('run orders --crash', 'the stream failed: stopped after merging')
      await step('run orders', '|    1008|        C01|placed| 12.00|2026-10-01 12:40:00|')
    }
    const more = makeRecords(seeded('base/walk-through'), GROUP_SIZE)
    await this.#send(folder, more)
    return { folder, records: [...NINE_EVENTS, ...more], taken: NINE_EVENTS.length }
  }

  async #send(folder: string, records: readonly SeededRecord[]): Promise<void> {
    const file = join(folder, 'records.txt')
    writeFileSync(file, records.map(({ line }) => `${line}\n`).join(''))
    await streamtop(this.dist, folder, 'produce', '--from', file)
  }

  #newFolder(): string {
    const folder = mkdtempSync(join(tmpdir(), 'streamtop-spark-'))
    this.#folders.push(folder)
    writeFileSync(join(folder, 'streamtop.config.mjs'), CONFIG)
    return folder
  }
}
