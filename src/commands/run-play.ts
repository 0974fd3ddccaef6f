/** What `play` does: lists scenarios, plays one in the dashboard, or some of them as transcripts. */
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { isatty } from 'node:tty'
import { onExit } from 'signal-exit'
import { knownError, StreamtopError } from '../errors.js'
import { safeJson, safeText } from '../safe-text.js'
import { findScenario, type FoundScenario, listScenarios, scenariosFolder } from '../scenario/library.js'
import type { PlayVerbOptions } from './play.js'
import { removeIfPossible } from './remove-if-possible.js'
import type { Context } from './verb.js'

const STDIN = 0

/** @returns 0 when all that was played was as expected, 1 when something was not */
export async function runPlay(context: Context<PlayVerbOptions>): Promise<number> {
  const { options, fx } = context
  const [wanted] = context.arguments
  const isOnScreen = isScreenThere(context)
  checkOptions(context, wanted, isOnScreen)
  const folder = scenariosFolder()
  if (wanted === undefined) {
    const all = listScenarios(folder, fx)
    if (all.length === 0) throw new StreamtopError('source-missing', `no scenario lies in ${folder}`, { hint: 'they come with streamtop: install it again' })
    return options.all ? playAll(all, context) : list(all, context)
  }
  const found = findScenario(wanted, folder, resolve('.'), fx)
  if (isScreenWanted(context) && !isOnScreen && process.env.TERM === 'dumb') context.output.stderr('TERM is dumb: the transcript instead of the dashboard\n')
  const isMet = await inWorkspace(context, async (workspace) => {
    if (!isOnScreen) return isRecorded(context) ? playUnseen(found, workspace, context) : playPlainly(found, workspace, context)
    const { playOnScreen } = await import('./play-on-screen.js')
    return playOnScreen(found, workspace, context)
  })
  return isMet && !context.signal.aborted ? 0 : 1
}

/** Whether somebody is at a terminal, and has not asked for a transcript. */
function isScreenWanted({ options, output, json }: Context<PlayVerbOptions>): boolean {
  const isPlain = json || options.plain || options.all || options.virtual
  return !isPlain && output.stdoutIsTerminal && isatty(STDIN)
}

function isScreenThere(context: Context<PlayVerbOptions>): boolean {
  return isScreenWanted(context) && process.env.TERM !== 'dumb'
}

function isRecorded({ options }: Context<PlayVerbOptions>): boolean {
  return options.record !== undefined || options.svg !== undefined
}

function checkOptions(context: Context<PlayVerbOptions>, wanted: string | undefined, isOnScreen: boolean): void {
  const { options, configFile, kafka, adopt, isWorkspaceGiven } = context
  const refuse = (problem: string, hint: string) => {
    throw new StreamtopError('usage', problem, { hint })
  }
  if (wanted !== undefined && options.all) refuse('--all plays all scenarios, and one is named', 'leave one of the two out')
  if (options.all && isWorkspaceGiven) refuse('--workspace goes with one scenario', 'with --all each has a temporary one')
  if (configFile !== null) refuse('a scenario names its file of queries itself', 'write "config: FILE.mjs" into it, a file beside it')
  if (kafka !== null && options.virtual) refuse('--virtual has no Kafka in its world', 'leave one of the two out')
  if (adopt) refuse('a scenario is not played in a workspace that another tool made', 'leave --adopt out')
  if (isRecorded(context) && wanted === undefined) refuse('a recording is of one scenario', 'name it: streamtop play 02 --record 02.cast')
  if (options.size !== undefined && (isOnScreen || !isRecorded(context))) refuse('--size is for a recording without a terminal', 'a terminal has its own size')
  for (const name of ['byHand', 'presenter'] as const) {
    const flag = name === 'byHand' ? '--by-hand' : '--presenter'
    if (options[name] && options.all) refuse(`${flag} goes with one scenario`, 'with --all each is a transcript')
    if (options[name] && wanted !== undefined && !isOnScreen && !(name === 'presenter' && isRecorded(context)))
      refuse(`${flag} needs a terminal`, 'without one a play is its transcript')
  }
}

function list(found: readonly FoundScenario[], { json, output }: Context): number {
  if (json) output.stdout(`${safeJson({ scenarios: found.map(({ name, scenario }) => ({ name, title: scenario.title, about: scenario.about })) })}\n`)
  else {
    const width = Math.max(...found.map(({ name }) => name.length))
    output.stdout(found.map(({ name, scenario }) => `${name.padEnd(width)}  ${safeText(scenario.title)}\n`).join(''))
  }
  return 0
}

async function playAll(found: readonly FoundScenario[], context: Context<PlayVerbOptions>): Promise<number> {
  const { output, json, signal } = context
  const failed: string[] = []
  for (const [index, one] of found.entries()) {
    if (signal.aborted) break
    if (index > 0 && !json) output.stdout('\n')
    if (!(await isPlayedAsExpected(one, context))) failed.push(one.name)
  }
  if (!json) {
    const text =
      failed.length === 0 ? `✓ ${found.length} scenarios, all as expected` : `✗ ${failed.length} of ${found.length} scenarios failed: ${failed.join(', ')}`
    output.stdout(`\n${text}\n`)
  }
  return failed.length === 0 && !signal.aborted ? 0 : 1
}

/** One that cannot even be played has failed, and those behind it are played all the same. */
async function isPlayedAsExpected(found: FoundScenario, context: Context<PlayVerbOptions>): Promise<boolean> {
  try {
    return await inWorkspace(context, (workspace) => playPlainly(found, workspace, context))
  } catch (error) {
    const known = knownError(error)
    if (known === null) throw error
    context.output.stderr(`${found.name}: ${safeText(known.message)}\n`)
    return false
  }
}

async function playUnseen(found: FoundScenario, workspace: string, context: Context<PlayVerbOptions>): Promise<boolean> {
  const { playUnseen } = await import('./play-unseen.js')
  return playUnseen(found, workspace, context)
}

async function playPlainly(found: FoundScenario, workspace: string, context: Context<PlayVerbOptions>): Promise<boolean> {
  const { playAsTranscript } = await import('./play-plainly.js')
  return playAsTranscript(found, workspace, context)
}

/** Does something in the folder that was named, or in a temporary one that is removed after it. */
async function inWorkspace<T>({ workspace: named, isWorkspaceGiven, fx }: Context, work: (workspace: string) => Promise<T>): Promise<T> {
  if (isWorkspaceGiven) return work(named)
  const workspace = join(tmpdir(), `streamtop-play-${fx.randomUuid().slice(0, 8)}`)
  // Also when a second ctrl-c ends the process on the spot.
  const forget = onExit(() => removeIfPossible(workspace, fx), { alwaysLast: true })
  try {
    return await work(workspace)
  } finally {
    removeIfPossible(workspace, fx)
    // What is still there is tried again at the exit, when no query runs any more.
    if (!fx.files.exists(workspace)) forget()
  }
}
