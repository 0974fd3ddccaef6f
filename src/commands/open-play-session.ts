/** The session of a play in a dashboard: its stage, and who plays on it. */
import type { Effects } from '../effects.js'
import { openStage, type StageChoices } from '../scenario/open-stage.js'
import { pausableClock } from '../scenario/pausable-clock.js'
import type { PlayEnd, PlayEvent } from '../scenario/play-event.js'
import { playScenario } from '../scenario/play-scenario.js'
import type { Scenario } from '../scenario/scenario.js'
import { openWorkspaceService } from '../session/open-workspace-service.js'
import { startWorkspaceThread } from '../session/workspace-client.js'
import type { WorkspaceService } from '../session/workspace-service.js'
import { PlayConductor } from '../tui/play-conductor.js'
import type { ProgramSession } from '../tui/program.js'

/** People must see what happens; a scenario may say otherwise. */
const PACE = 'slow'

/**
 * @param isOver fires when nobody waits for it any more
 * @param tell hears of each event before the screen does
 * @throws what `openStage` throws
 */
export async function openPlaySession(
  scenario: Scenario,
  choices: Pick<StageChoices, 'workspace' | 'configFile' | 'queries' | 'isVirtual' | 'kafka'>,
  isOver: AbortSignal,
  fx: Effects,
  tell: (event: PlayEvent) => void = () => {},
): Promise<ProgramSession> {
  // A virtual clock knows nothing of other threads.
  const service = choices.isVirtual ? openWorkspaceService(fx) : startWorkspaceThread({}, fx)
  const isStopped = new AbortController()
  const stage = await openOrClose(service, isOver, () =>
    openStage({ ...choices, signal: AbortSignal.any([isOver, isStopped.signal]), pace: PACE, service }, fx),
  )
  const clock = pausableClock(fx)
  const events = overheard(playScenario(scenario, stage, clock.fx), tell)
  return { session: stage.session, close: () => stage.close(), reader: service, play: new PlayConductor(events, clock, () => isStopped.abort()) }
}

/** A thread that nobody needs would keep the process from its end. */
async function openOrClose<T>(service: WorkspaceService, isOver: AbortSignal, open: () => Promise<T>): Promise<T> {
  const giveUp = () => void service.close()
  isOver.addEventListener('abort', giveUp)
  try {
    return await open()
  } catch (error) {
    await service.close()
    throw error
  } finally {
    isOver.removeEventListener('abort', giveUp)
  }
}

async function* overheard(events: AsyncGenerator<PlayEvent, PlayEnd>, tell: (event: PlayEvent) => void): AsyncGenerator<PlayEvent, PlayEnd> {
  for (;;) {
    const { value, done } = await events.next()
    if (done) return value
    tell(value)
    yield value
  }
}
