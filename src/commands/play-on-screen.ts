/** A play in the dashboard: its captions beside the queries that it runs, and the workspace in the audience's hands at the end. */
import { queriesFor } from '../scenario/check-queries.js'
import type { FoundScenario } from '../scenario/library.js'
import { safeText } from '../safe-text.js'
import { openDashboard } from '../tui/open-dashboard.js'
import { openRecorder } from '../tui/open-recorder.js'
import { isAsExpected, type PlaySetting } from '../tui/play-state.js'
import type { PlayVerbOptions } from './play.js'
import type { Context } from './verb.js'

/** @param workspace a folder that need not be there @returns whether all was as expected, as far as it was played */
export async function playOnScreen(found: FoundScenario, workspace: string, context: Context<PlayVerbOptions>): Promise<boolean> {
  const { name, scenario, configFile } = found
  const { options, output, signal, fx } = context
  const queries = await queriesFor(found, fx)
  const setting: PlaySetting = {
    ...{ name, scenario, isPresenter: options.presenter ?? false },
    ...{ waitsAt: options.byHand ? 'lines' : options.speed === undefined ? 'captions' : 'nothing', speed: options.speed ?? 1 },
  }
  const { play } = await openDashboard(
    {
      theme: options.theme ?? null,
      isAscii: options.ascii ?? false,
      streams: process,
      environment: process.env,
      play: setting,
      recorder: openRecorder(
        { cast: options.record, svg: options.svg, title: scenario.title, theme: options.theme ?? null, environment: process.env },
        (sentence) => output.stderr(`${safeText(sentence)}\n`),
        fx,
      ),
      async open(isOver) {
        const { openPlaySession } = await import('./open-play-session.js')
        return openPlaySession(scenario, { workspace, configFile, queries, isVirtual: false, kafka: context.kafka }, isOver, fx)
      },
    },
    signal,
    fx,
  )
  return play === null || isAsExpected(play)
}
