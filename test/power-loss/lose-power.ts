/** Loses power in a recorded batch, in many ways, starts again on each disk that is left, and says what was wrong then. */
import { existsSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { realEffects } from '../../src/effects.js'
import { reportText } from '../../src/commands/query-report.js'
import { inlineRunner } from '../../src/engine/inline-runner.js'
import type { QueryEvent } from '../../src/engine/events.js'
import type { Ending } from '../../src/engine/runner.js'
import { openEmbeddedTopic } from '../../src/topic/embedded-topic.js'
import { checkWorkspace, type Promised } from '../checker.mjs'
import { newStory } from '../stories/workspace.js'
import type { WayOfWriting } from './batches.js'
import type { Disk, Recording } from './disk.js'
import { describeLoss, diskLeft, type PowerLoss, toldBefore } from './legal-disks.js'
import { recordWork, type Tell } from './recorder.js'

/** Records the two batches of a way of writing, from the first start on. */
export async function recordBatches(way: WayOfWriting): Promise<Recording> {
  const prepared = newStory()
  await way.prepare(prepared)
  // In a copy, of which this process knows no more than a new one would.
  const story = newStory(prepared)
  prepared.remove()
  try {
    return await recordWork(story.folder, async (tell) => {
      const ending = await run(story.folder, way, way.sourceOptions, (event) => tellStep(event, tell))
      if (ending.kind !== 'ended') throw ending.kind === 'failed' ? ending.error : new Error(`${way.name}: ${ending.kind}`)
    })
  } finally {
    story.remove()
  }
}

/**
 * Records a restart after a death: a process was killed when so many effects of a recording were done, and another one runs to the end.
 * What the first had not synced is not synced unless the second sees to it.
 */
export async function recordRestart(way: WayOfWriting, recording: Recording, count: number): Promise<Recording> {
  const folder = mkdtempSync(join(memoryFolder(), 'streamtop-power-'))
  try {
    layDown(diskLeft(recording, { count, losses: new Map() }), folder)
    return await recordWork(
      folder,
      async (tell) => {
        const ending = await run(folder, way, way.sourceOptions, (event) => tellStep(event, tell))
        if (ending.kind !== 'ended') throw new Error(`${way.name}, killed after effect ${count}: the start ${endedHow(ending)}`)
      },
      { recording, count },
    )
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** A step promises what is on disk when it is reached: whoever heard of it must find it there whatever happens. */
function tellStep(event: QueryEvent, tell: Tell): void {
  if (event.kind !== 'step') return
  const { step, batchId } = event.event
  if (!PROMISES.has(step)) return
  // Commits may be lost: the batch then runs again, and is known.
  tell(`${step} of batch ${batchId}`, (path) => IS_PROMISED.test(path) && !path.endsWith('.tmp'))
}

const PROMISES: ReadonlySet<string> = new Set(['offsets-logged', 'version-linked', 'table-committed', 'batch-committed'])
const IS_PROMISED = /^(checkpoints\/[^/]+\/(metadata|offsets\/\d+|sources\/0\/[^.].*)|tables\/[^/]+\/_delta_log\/\d+\.json)$/

/** Starts again on what a loss of power left, and runs to the end. Gives what is wrong then, as sentences. */
export async function startAgain(way: WayOfWriting, recording: Recording, loss: PowerLoss): Promise<string[]> {
  const folder = mkdtempSync(join(memoryFolder(), 'streamtop-power-'))
  try {
    layDown(diskLeft(recording, loss), folder)
    const ending = await run(folder, way, [], () => {})
    const wrong = ending.kind === 'ended' ? await found(folder, way, toldBefore(recording, loss.count)) : [`the start ${endedHow(ending)}`]
    return wrong.map((sentence) => `${way.name}: ${describeLoss(recording, loss)}: ${sentence}`)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

function endedHow(ending: Ending): string {
  return ending.kind === 'failed' ? `failed: ${ending.error.message}` : ending.kind
}

async function found(folder: string, way: WayOfWriting, told: ReadonlyMap<string, string>): Promise<string[]> {
  const wrong: string[] = []
  for (const [path, content] of told) {
    const now = existsSync(join(folder, path)) ? readFileSync(join(folder, path), 'latin1') : null
    if (now !== content) wrong.push(`${path}, which was told to be there, ${now === null ? 'is gone' : 'is another'}`)
  }
  try {
    const violations = await checkWorkspace(folder, { ...way.promised, said: await countsOf(folder, way) })
    // The cache of counts is not synced and may be damaged as a database: its rows have checksums, and the counts are right or this says so.
    wrong.push(...violations.filter((violation) => !violation.startsWith(`${join('tables', '_counts.db')}: `)))
  } catch (error) {
    wrong.push(`it cannot be read: ${(error as Error).message}`)
  }
  return wrong
}

/** What streamtop says of the table. */
async function countsOf(folder: string, { definition }: WayOfWriting): Promise<NonNullable<Promised['said']>> {
  const [, table, rows, distinct] =
    /(\S+) has (\d+) rows, (\d+) different/.exec(await reportText(folder, { ...definition, report: 'counts' }, realEffects)) ?? []
  return [{ table: String(table), rows: Number(rows), distinct: Number(distinct) }]
}

/** The machine was started anew: no process of before runs, though this one, which recorded it, does. */
function layDown(disk: Disk, folder: string): void {
  disk.write(folder)
  for (const place of [folder, join(folder, 'tables', '.uncommitted')]) {
    if (!existsSync(place)) continue
    for (const name of readdirSync(place)) {
      const dead = name.replace(/^(\.{1,2}link-probe-)?\d+-\w+-(?=[0-9a-f]{8}-)/, '$1999999999-0-')
      if (dead !== name) renameSync(join(place, name), join(place, dead))
    }
  }
}

function run(folder: string, { definition }: WayOfWriting, sourceOptions: readonly string[], listen: (event: QueryEvent) => void): Promise<Ending> {
  const options = { sourceOptions, appId: null, intervalMs: null, acceptGap: false }
  const request = { workspace: folder, definition, options, idempotent: true, armed: null, dwellMs: 0, hasUpstream: false, listen }
  return inlineRunner(openEmbeddedTopic, realEffects).start(request).ending
}

/** Where files are in memory, if there is such a place: what starts again here need not be durable. */
export function memoryFolder(): string {
  return existsSync('/dev/shm') ? '/dev/shm' : tmpdir()
}
