/** Real processes of `streamtop run` in which one system call kills or fails, started again afterwards, and what was wrong. */
import { mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { realEffects } from '../../src/effects.js'
import { inlineRunner } from '../../src/engine/inline-runner.js'
import { processRunner } from '../../src/engine/process-runner.js'
import type { Ending, Runner } from '../../src/engine/runner.js'
import type { StreamtopError } from '../../src/errors.js'
import { openEmbeddedTopic } from '../../src/topic/embedded-topic.js'
import { checkWorkspace } from '../checker.mjs'
import type { WayOfWriting } from '../power-loss/batches.js'
import { newStory, type Story } from '../stories/workspace.js'
import { changingCalls, type Injection, type SystemCall, underStrace } from './strace.js'

const CHILD = fileURLToPath(new URL('../../dist/child.js', import.meta.url))
/** A process that does not end by then hangs. */
const DEADLINE_MS = 30_000

/** What a process made of it. */
interface TracedRun {
  readonly ending: Ending | 'hangs'
  readonly output: readonly string[]
  readonly calls: readonly SystemCall[]
}

/** Every call of a run of two batches that changes something in the workspace. */
export async function callsOf(way: WayOfWriting, source: Story): Promise<readonly SystemCall[]> {
  const story = newStory(source)
  try {
    const { ending, calls } = await traced(way, story, null)
    if (ending === 'hangs' || ending.kind !== 'ended') throw new Error(`${way.name} under strace: ${ending === 'hangs' ? ending : endedHow(ending)}`)
    return calls
  } finally {
    story.remove()
  }
}

export interface HitCall {
  /** Whether the call was made again, so that it was hit. */
  readonly isHit: boolean
  /** Sentences. */
  readonly wrong: readonly string[]
}

/** A run in which one call is hit, and a normal start after it. */
export async function hitCall(way: WayOfWriting, source: Story, call: SystemCall, what: Injection['what']): Promise<HitCall> {
  const story = newStory(source)
  try {
    const run = await traced(way, story, { call, what })
    const isHit = what === 'KILL' ? isKilled(run) : run.calls.some(({ isInjected }) => isInjected)
    const wrong = what === 'KILL' ? [] : wrongAfterError(run)
    if (run.ending === 'hangs') wrong.push(`it does not end within ${DEADLINE_MS / 1000} s`)
    const again = await runOn(inlineRunner(openEmbeddedTopic, realEffects), way, story.folder, [], null)
    if (again.kind === 'ended') wrong.push(...(await checkWorkspace(story.folder, way.promised)))
    else wrong.push(`the next start ${endedHow(again)}`)
    const where = `${way.name}, ${what} at ${call.name} ${call.path} (the ${call.ordinal}. of its name)`
    return { isHit, wrong: wrong.map((sentence) => `${where}: ${sentence}`) }
  } finally {
    story.remove()
  }
}

function isKilled({ ending }: TracedRun): boolean {
  return ending !== 'hangs' && ending.kind === 'died'
}

/** A person can act upon every error; and nothing is changed any more once a sync has failed, but for the lock, whose row nobody needs. */
function wrongAfterError({ ending, output, calls }: TracedRun): string[] {
  const wrong: string[] = []
  const hit = calls.findIndex(({ isInjected }) => isInjected)
  const failed = calls[hit]
  if (failed === undefined) return wrong
  const isSync = /^f(data)?sync$/.test(failed.name) && !failed.path.startsWith('.locks') && !isOfSqliteAlone(calls, hit) && !isOfClosing(calls, hit)
  // SQLite takes back what it was writing without a log before it says so.
  const isTakenBack = ({ path }: SystemCall) => /\.db(-journal)?$/.test(failed.path) && path.replace(/-journal$/, '') === failed.path.replace(/-journal$/, '')
  const later = calls.slice(hit + 1).filter((call) => !isTakenBack(call))
  if (isSync && later.length > 0) wrong.push(`${later.length} calls change something after the failed sync, the first is ${later[0]?.name} ${later[0]?.path}`)
  if (ending !== 'hangs' && ending.kind !== 'ended') {
    const { code, hint, message } = ending.kind === 'failed' ? (ending.error as StreamtopError) : { code: 'none', hint: undefined, message: endedHow(ending) }
    if (!NAMED.has(code) || hint === undefined || message.includes('\n')) wrong.push(`it ended with ${code}: ${message}`)
    if (isSync && code !== 'sync-failed') wrong.push(`a failed sync ended it with ${code}: ${message}`)
  } else if (isSync) wrong.push('it goes on after a failed sync')
  const traces = output.filter((line) => /^\s+at /.test(line))
  if (traces.length > 0) wrong.push(`it printed a stack trace: ${traces[0]}`)
  return wrong
}

/** SQLite syncs the folder of a log that it has made, and does not look at the answer. */
function isOfSqliteAlone(calls: readonly SystemCall[], index: number): boolean {
  const [before, call] = [calls[index - 1], calls[index]]
  return (
    before !== undefined && call !== undefined && before.name === 'fsync' && /-(wal|journal)$/.test(before.path) && dirname(before.path) === (call.path || '.')
  )
}

/** When SQLite closes a database and cannot sync it, it says nothing and keeps the log, from which the next one has everything. */
function isOfClosing(calls: readonly SystemCall[], index: number): boolean {
  const database = join('tables', '_log.db')
  const later = calls.slice(index + 1)
  return calls[index]?.path.startsWith(database) === true && later.every(({ path }) => path.startsWith('.locks') || path === `${database}-shm`)
}

const NAMED: ReadonlySet<string> = new Set(['disk-full', 'disk-failed', 'sync-failed', 'not-permitted', 'too-many-files'])

function endedHow(ending: Ending): string {
  if (ending.kind === 'failed') return `failed: ${ending.error.message}`
  return ending.kind === 'died' ? `died by ${ending.signal}` : ending.kind
}

async function traced(way: WayOfWriting, story: Story, injection: Injection | null): Promise<TracedRun> {
  const scratch = mkdtempSync(join(tmpdir(), 'streamtop-strace-'))
  const log = join(scratch, 'calls')
  const output: string[] = []
  try {
    const folder = realpathSync(story.folder)
    const runner: Runner = processRunner({ childPath: CHILD })
    const ending = await underStrace(scratch, log, injection, () => runOn(runner, way, folder, way.sourceOptions, (line) => output.push(line)))
    return { ending, output, calls: changingCalls(log, folder) }
  } finally {
    rmSync(scratch, { recursive: true, force: true })
  }
}

function runOn(
  runner: Runner,
  { definition }: WayOfWriting,
  workspace: string,
  sourceOptions: readonly string[],
  onOutput: ((line: string) => void) | null,
): Promise<Ending> {
  const options = { sourceOptions, appId: null, intervalMs: null, acceptGap: false }
  const request = { workspace, definition, options, idempotent: true, armed: null, dwellMs: 0, hasUpstream: false, listen: () => {} }
  return runner.start({ ...request, ...(onOutput === null ? {} : { onOutput }) }).ending
}
