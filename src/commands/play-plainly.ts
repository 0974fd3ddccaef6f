/** A play without a screen: its transcript, or each of its events as a line of JSON. */
import type { Effects } from '../effects.js'
import { safeJson } from '../safe-text.js'
import { queriesFor } from '../scenario/check-queries.js'
import type { FoundScenario } from '../scenario/library.js'
import { openStage } from '../scenario/open-stage.js'
import { playScenario } from '../scenario/play-scenario.js'
import { readingMs } from '../scenario/reading-time.js'
import { Transcript } from '../scenario/transcript.js'
import { virtualEffects } from '../scenario/virtual-effects.js'
import type { PlayVerbOptions } from './play.js'
import type { Context } from './verb.js'

/** @param workspace a folder that need not be there @returns whether it was as expected */
export async function playAsTranscript(found: FoundScenario, workspace: string, context: Context<PlayVerbOptions>): Promise<boolean> {
  const { name, scenario, configFile } = found
  const { fx: real, output, json, signal, options } = context
  const isVirtual = options.virtual ?? false
  const fx: Effects = isVirtual ? virtualEffects(name, real) : real
  const queries = await queriesFor(found, real)
  const stage = await openStage({ workspace, configFile, queries, isVirtual, signal, kafka: context.kafka }, fx)
  try {
    const play = playScenario(scenario, stage, fx)
    const transcript = new Transcript()
    for (;;) {
      const { value, done } = await play.next()
      if (done) return value.isMet
      output.stdout(json ? `${safeJson({ scenario: name, ...value })}\n` : transcript.take(value))
      if (value.kind === 'caption' && options.speed !== undefined) await real.sleep(readingMs(value.text, options.speed), signal)
    }
  } finally {
    await stage.close()
  }
}
