/** Plays a scenario virtually in a temporary workspace, and gives what it told. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { realEffects } from '../../src/effects.js'
import { loadQueries } from '../../src/queries/load-queries.js'
import { checkQueries } from '../../src/scenario/check-queries.js'
import type { FoundScenario } from '../../src/scenario/library.js'
import { openStage } from '../../src/scenario/open-stage.js'
import { parseScenario } from '../../src/scenario/parse-scenario.js'
import type { PlayEvent } from '../../src/scenario/play-event.js'
import { playScenario } from '../../src/scenario/play-scenario.js'
import { virtualEffects } from '../../src/scenario/virtual-effects.js'

export async function playVirtually({ name, scenario, configFile }: FoundScenario): Promise<PlayEvent[]> {
  const fx = virtualEffects(name, realEffects)
  const queries = await loadQueries(configFile, fx)
  checkQueries(
    scenario,
    queries.map((query) => query.name),
  )
  const workspace = mkdtempSync(join(tmpdir(), 'streamtop-play-'))
  const stage = await openStage({ workspace, configFile, queries, isVirtual: true, signal: new AbortController().signal }, fx)
  const events: PlayEvent[] = []
  try {
    for await (const event of playScenario(scenario, stage, fx)) events.push(event)
    return events
  } finally {
    await stage.close()
    rmSync(workspace, { recursive: true, force: true })
  }
}

/** A script's lines, each as YAML without the dash. The first is line 3. */
export function playScript(...lines: readonly string[]): Promise<PlayEvent[]> {
  return playVirtually({ name: 'mine', scenario: parseScenario(scriptText(lines), 'mine.yaml'), configFile: null })
}

export function scriptText(lines: readonly string[]): string {
  return `title: Mine\nscript:\n${lines.map((line) => `  - ${line}\n`).join('')}`
}
