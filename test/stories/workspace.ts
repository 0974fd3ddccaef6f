/** A workspace in a temporary folder, driven through the library as the command line drives it, with the inline runner. */
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach } from 'vitest'
import { realEffects } from '../../src/effects.js'
import type { QueryDefinition } from '../../src/engine/definition.js'
import type { QueryEvent } from '../../src/engine/events.js'
import { inlineRunner } from '../../src/engine/inline-runner.js'
import type { Ending } from '../../src/engine/runner.js'
import type { Step } from '../../src/engine/steps.js'
import { partRecords } from '../../src/queries/order-parts.js'
import type { Row } from '../../src/store/values.js'
import { rowsOf } from '../../src/store/values.js'
import { Store } from '../../src/store/store.js'
import { openEmbeddedProducer } from '../../src/topic/embedded-producer.js'
import { openEmbeddedTopic } from '../../src/topic/embedded-topic.js'
import { expectSound } from '../nine-events.js'
import { type Deed, type FurtherPromises, promisesOf } from './promises.js'

export interface RunChoices {
  readonly idempotent?: boolean
  readonly appId?: string
  readonly sourceOptions?: readonly string[]
  readonly acceptGap?: boolean
  readonly killAt?: Step | { readonly step: Step; readonly occurrence: number }
}

export interface Story {
  readonly folder: string
  /** What was done here, in order. */
  readonly deeds: readonly Deed[]
  path(...parts: string[]): string
  /** Sends parts of the nine events. */
  produce(...parts: number[]): Promise<void>
  /** Runs a query until it is caught up or dead; throws what it failed with. */
  run(definition: QueryDefinition, choices?: RunChoices): Promise<{ readonly ending: Ending; readonly events: readonly QueryEvent[] }>
  /** The rows of a table now, as objects. */
  rows(table: string): Promise<Row[]>
  /** Does something with the store, opened for it. */
  store<T>(use: (store: Store) => T | Promise<T>): Promise<T>
  /** Names in a folder of the workspace, sorted; empty when it is not there. */
  list(...parts: string[]): string[]
  /** Every file below a folder of the workspace with its content, by its path from there. */
  files(...parts: string[]): Record<string, string>
  /** Runs the checker, which must find nothing. Every test that kills ends with it. */
  expectSound(further?: FurtherPromises): Promise<void>
  remove(): void
}

/** Gives stories that are removed when the test that began them ends. Called once in a file. */
export function temporaryStories(): (from?: Story) => Story {
  const begun: Story[] = []
  afterEach(() => {
    for (const story of begun.splice(0)) story.remove()
  })
  return (from) => {
    const story = newStory(from)
    begun.push(story)
    return story
  }
}

/** A new workspace: an empty one, or a copy of another story's. */
export function newStory(from?: Story): Story {
  const folder = mkdtempSync(join(tmpdir(), 'streamtop-'))
  if (from) cpSync(from.folder, folder, { recursive: true })
  const fx = realEffects
  const runner = inlineRunner(openEmbeddedTopic, fx)
  const deeds: Deed[] = [...(from?.deeds ?? [])]
  const story: Story = {
    folder,
    deeds,
    path: (...parts) => join(folder, ...parts),
    async produce(...parts) {
      const producer = openEmbeddedProducer(folder, 'orders', {}, fx)
      for (const part of parts) {
        await producer.send(partRecords(part))
        deeds.push({ kind: 'sent', part })
      }
      await producer.close()
    },
    async run(definition, choices = {}) {
      const events: QueryEvent[] = []
      const { killAt } = choices
      const running = runner.start({
        workspace: folder,
        definition,
        options: { sourceOptions: choices.sourceOptions ?? [], appId: choices.appId ?? null, intervalMs: null, acceptGap: choices.acceptGap ?? false },
        idempotent: choices.idempotent ?? null,
        armed: killAt === undefined ? null : typeof killAt === 'string' ? { step: killAt, occurrence: 1 } : killAt,
        dwellMs: 0,
        hasUpstream: false,
        listen: (event) => events.push(event),
      })
      const ending = await running.ending
      deeds.push({ kind: 'ran', definition, isIdempotent: choices.idempotent ?? definition.idempotent, ending: ending.kind })
      if (ending.kind === 'failed') throw ending.error
      return { ending, events }
    },
    rows: (table) =>
      story.store(async (store) => {
        const snapshot = store.snapshot(table)
        return snapshot ? [...rowsOf(await store.read(table, snapshot.schema, snapshot.files))] : []
      }),
    async store(use) {
      const store = Store.open(folder, fx)
      deeds.push({ kind: 'opened' })
      try {
        return await use(store)
      } finally {
        store.close()
      }
    },
    list: (...parts) => fx.files.list(join(folder, ...parts)).sort(),
    files(...parts) {
      const root = join(folder, ...parts)
      const entries = readdirSync(root, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())
      const paths = entries.map((entry) => join(entry.parentPath, entry.name)).sort()
      return Object.fromEntries(paths.map((path) => [path.slice(root.length + 1), readFileSync(path, 'latin1')]))
    },
    expectSound: (further) => expectSound(story, promisesOf(deeds, further)),
    remove: () => rmSync(folder, { recursive: true, force: true }),
  }
  return story
}
