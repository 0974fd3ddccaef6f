/** A play in a dashboard that nobody sees, to be recorded where there is no terminal. Its transcript is printed meanwhile. */
import type { Effects } from '../effects.js'
import { safeJson, safeText } from '../safe-text.js'
import { queriesFor } from '../scenario/check-queries.js'
import type { FoundScenario } from '../scenario/library.js'
import type { PlayEvent } from '../scenario/play-event.js'
import { Transcript } from '../scenario/transcript.js'
import { virtualEffects } from '../scenario/virtual-effects.js'
import { openDashboard } from '../tui/open-dashboard.js'
import { openRecorder } from '../tui/open-recorder.js'
import { isAsExpected } from '../tui/play-state.js'
import { unseenTerminal } from '../tui/unseen-terminal.js'
import { loadWidths } from '../tui/width.js'
import { openPlaySession } from './open-play-session.js'
import type { PlayVerbOptions } from './play.js'
import type { Context } from './verb.js'

const USUAL_SIZE = { columns: 80, rows: 24 }
/** How long its end is shown. */
const LAST_LOOK_MS = 2_000

/** @param workspace a folder that need not be there @returns whether it was as expected */
export async function playUnseen(found: FoundScenario, workspace: string, context: Context<PlayVerbOptions>): Promise<boolean> {
  const { name, scenario, configFile } = found
  const { fx: real, options, output, json, signal, isWorkspaceGiven } = context
  const isVirtual = options.virtual ?? false
  const fx: Effects = isVirtual ? virtualEffects(name, real) : real
  const queries = await queriesFor(found, real)
  // Loaded now, so that the first frames are the same each time.
  await loadWidths()
  const transcript = new Transcript()
  const over = new AbortController()
  const tell = (event: PlayEvent) => {
    output.stdout(json ? `${safeJson({ scenario: name, ...event })}\n` : transcript.take(event))
    if (event.kind === 'end') void fx.sleep(LAST_LOOK_MS, signal).then(() => over.abort())
  }
  // What the surroundings say of a terminal is not meant for this one.
  const look = { theme: options.theme ?? null, environment: {} }
  const { play } = await openDashboard(
    {
      ...look,
      isAscii: options.ascii ?? false,
      // A temporary folder has another name each time, and it may have that of a person in it.
      ...(isWorkspaceGiven ? {} : { workspaceName: name }),
      streams: unseenTerminal(options.size ?? USUAL_SIZE),
      recorder: openRecorder(
        { ...look, cast: options.record, svg: options.svg, title: scenario.title },
        (sentence) => output.stderr(`${safeText(sentence)}\n`),
        fx,
      ),
      play: { name, scenario, isPresenter: options.presenter ?? false, waitsAt: 'nothing', speed: options.speed ?? 1 },
      open: (isOver) => openPlaySession(scenario, { workspace, configFile, queries, isVirtual, kafka: context.kafka }, isOver, fx, tell),
    },
    AbortSignal.any([signal, over.signal]),
    fx,
  )
  return play !== null && play.end !== null && isAsExpected(play)
}
