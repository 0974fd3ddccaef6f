/**
 * Runs queries in this process. A kill is a `reach` that never returns, after which every handle of that life is let go without a
 * commit: what is on disk is what a SIGKILL would have left, and the caller can look at it.
 */
import type { Effects } from '../effects.js'
import { Control } from './control.js'
import { beginLife, type Life } from './life.js'
import type { OpenTopic } from './open-topic.js'
import { type Ending, type Runner, type RunningQuery, type RunRequest, settingsOf } from './runner.js'
import type { StepEvent } from './steps.js'

/** A runner for this process. */
export function inlineRunner(openTopic: OpenTopic, fx: Effects): Runner {
  return { start: (request) => start(request, openTopic, fx) }
}

function start(request: RunRequest, openTopic: OpenTopic, fx: Effects): RunningQuery {
  const stop = new AbortController()
  const upstream = new AbortController()
  if (!request.hasUpstream) upstream.abort()
  const control = new Control(settingsOf(request), upstream.signal, stop.signal)
  let life: Life | null = null
  let isDead = false
  let dieAt: (ending: Ending) => void = () => {}
  const death = new Promise<Ending>((resolve) => {
    dieAt = resolve
  })
  const end = (ending: Ending): Promise<never> => {
    isDead = true
    control.end()
    life?.abandon()
    dieAt(ending)
    return new Promise<never>(() => {})
  }
  const lived = async (): Promise<Ending> => {
    try {
      life = await beginLife({ ...request, control, stop: stop.signal, die: (at: StepEvent) => end({ kind: 'killed', at }), openTopic }, fx)
      if (isDead) life.abandon()
      else await life.run()
      return { kind: 'ended' }
    } catch (error) {
      // What a life that was killed stumbles over afterwards is nobody's error.
      return isDead ? death : { kind: 'failed', error: error as Error }
    }
  }
  return {
    pid: null,
    ending: Promise.race([death, lived()]),
    stop: () => stop.abort(),
    change: (change) => control.change(change),
    step: () => control.step(),
    upstreamEnded: () => upstream.abort(),
    kill: () => void end({ kind: 'died', signal: 'SIGKILL' }),
  }
}
