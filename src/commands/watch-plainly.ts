/** The dashboard without a screen: the same session, and its events as lines until it is asked to end. */
import { onTopic } from '../engine/open-topic.js'
import { Observer } from '../observe/observe.js'
import { findConfig, loadQueries } from '../queries/load-queries.js'
import { safeText } from '../safe-text.js'
import type { SessionOptions } from '../session/live-session.js'
import { openProgramSession } from '../tui/open-program-session.js'
import { PlainLines } from '../tui/plain.js'
import type { DashboardVerbOptions } from './dashboard.js'
import type { Context } from './verb.js'

/** More of a table's batches are not looked at: lines come from events. */
const NO_BATCHES = 0

/** @returns 0 */
export async function watchPlainly(context: Context<DashboardVerbOptions>, options: SessionOptions, signal: AbortSignal): Promise<number> {
  const { workspace, json, output, fx } = context
  const lines = new PlainLines({ json, timeZoneOffsetMinutes: fx.timeZoneOffsetMinutes(fx.nowMs()) })
  const say = (text: string) => {
    if (text !== '' && !output.isUnread?.()) output.stdout(text)
  }
  const { session } = await openProgramSession(
    options,
    {
      onOutput: (text) =>
        output.stderr(
          text
            .split('\n')
            .map((line) => safeText(line))
            .join('\n'),
        ),
    },
    fx,
  )
  const unsubscribe = session.subscribe((message) => say(lines.take(message, fx.nowMs())))
  session.watch(null, NO_BATCHES)
  if (!signal.aborted) await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }))
  await session.close()
  unsubscribe()
  const loaded = await loadQueries(options.configFile ?? findConfig(workspace, fx), fx)
  const queries = loaded.map((query) => onTopic(query, options.topic ?? null))
  say(lines.last(await new Observer(workspace, queries, fx).observe(), fx.nowMs()))
  return 0
}
