/** What `play` does: lists scenarios, or plays them one after the other and prints their transcripts. */
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { onExit } from 'signal-exit'
import type { Effects } from '../effects.js'
import { StreamtopError } from '../errors.js'
import { loadQueries } from '../queries/load-queries.js'
import { safeJson, safeText } from '../safe-text.js'
import { checkQueries } from '../scenario/check-queries.js'
import { findScenario, type FoundScenario, listScenarios, scenariosFolder } from '../scenario/library.js'
import { openStage } from '../scenario/open-stage.js'
import type { PlayEvent } from '../scenario/play-event.js'
import { playScenario } from '../scenario/play-scenario.js'
import { Transcript } from '../scenario/transcript.js'
import { virtualEffects } from '../scenario/virtual-effects.js'
import type { PlayVerbOptions } from './play.js'
import type { Context } from './verb.js'

/** People read aloud some fifteen characters a second, and look at the numbers for a moment. */
const CHARACTERS_PER_SECOND = 15
const LOOK_MS = 1_000

/** @returns 0 when all that was played was as expected, 1 when something was not */
export async function playVerb(context: Context<PlayVerbOptions>): Promise<number> {
  const { options, output, fx } = context
  const [wanted] = context.arguments
  const given = workspaceGiven(context)
  checkOptions(context, wanted, given)
  const folder = scenariosFolder()
  if (wanted === undefined && !options.all) return list(listScenarios(folder, fx), context)
  const found = wanted === undefined ? listScenarios(folder, fx) : [findScenario(wanted, folder, resolve('.'), fx)]
  const failed: string[] = []
  for (const [index, one] of found.entries()) {
    if (context.signal.aborted) break
    if (index > 0 && !context.json) output.stdout('\n')
    const isMet = await playOne(one, given, context)
    if (!isMet) failed.push(one.name)
  }
  if (options.all && !context.json) {
    output.stdout(
      `\n${failed.length === 0 ? `✓ ${found.length} scenarios, all as expected` : `✗ ${failed.length} of ${found.length} scenarios failed: ${failed.join(', ')}`}\n`,
    )
  }
  return failed.length === 0 && !context.signal.aborted ? 0 : 1
}

/** The current folder is not meant: a play begins in an empty one. */
function workspaceGiven({ workspace }: Context): string | null {
  return workspace === resolve('.') ? null : workspace
}

function checkOptions({ options, configFile, kafka, adopt }: Context<PlayVerbOptions>, wanted: string | undefined, given: string | null): void {
  const refuse = (problem: string, hint: string) => {
    throw new StreamtopError('usage', problem, { hint })
  }
  if (wanted !== undefined && options.all) refuse('--all plays all scenarios, and one is named', 'leave one of the two out')
  if (options.all && given !== null) refuse('--workspace goes with one scenario', 'with --all each has a temporary one')
  if (configFile !== null) refuse('a scenario names its file of queries itself', 'write "config: FILE.mjs" into it, a file beside it')
  if (kafka !== null) refuse('a scenario is played on the embedded topic', 'leave --kafka out')
  if (adopt) refuse('a scenario is not played in a workspace that another tool made', 'leave --adopt out')
}

function list(found: readonly FoundScenario[], { json, output }: Context): number {
  if (json) output.stdout(`${safeJson({ scenarios: found.map(({ name, scenario }) => ({ name, title: scenario.title, about: scenario.about })) })}\n`)
  else {
    const width = Math.max(...found.map(({ name }) => name.length))
    output.stdout(found.map(({ name, scenario }) => `${name.padEnd(width)}  ${safeText(scenario.title)}\n`).join(''))
  }
  return 0
}

/** Whether it was as expected. Its workspace is removed, unless somebody named one. */
async function playOne({ name, scenario, configFile }: FoundScenario, given: string | null, context: Context<PlayVerbOptions>): Promise<boolean> {
  const { fx: real, output, json, signal, options } = context
  const isVirtual = options.virtual ?? false
  const fx: Effects = isVirtual ? virtualEffects(name, real) : real
  const queries = await loadQueries(configFile, real)
  checkQueries(
    scenario,
    queries.map((query) => query.name),
  )
  const workspace = given ?? join(tmpdir(), `streamtop-play-${real.randomUuid().slice(0, 8)}`)
  // Also when a second ctrl-c ends the process on the spot.
  const forget = given === null ? onExit(() => real.files.removeFolder(workspace), { alwaysLast: true }) : () => {}
  try {
    const stage = await openStage({ workspace, configFile, queries, isVirtual, signal }, fx)
    try {
      const play = playScenario(scenario, stage, fx)
      const transcript = new Transcript()
      for (;;) {
        const { value, done } = await play.next()
        if (done) return value.isMet
        output.stdout(json ? `${safeJson({ scenario: name, ...value })}\n` : transcript.take(value))
        await pauseToRead(value, options.speed, signal, real)
      }
    } finally {
      await stage.close()
    }
  } finally {
    forget()
    if (given === null) real.files.removeFolder(workspace)
  }
}

async function pauseToRead(event: PlayEvent, speed: number | undefined, signal: AbortSignal, fx: Effects): Promise<void> {
  if (event.kind !== 'caption' || speed === undefined) return
  await fx.sleep((LOOK_MS + (event.text.length / CHARACTERS_PER_SECOND) * 1_000) / speed, signal)
}
