/** What `streamtop` without a verb does: the dashboard on a terminal, else one line an event. */
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { isatty } from 'node:tty'
import { onExit } from 'signal-exit'
import { StreamtopError } from '../errors.js'
import { safeText } from '../safe-text.js'
import type { SessionOptions } from '../session/live-session.js'
import type { DashboardVerbOptions } from './dashboard.js'
import { removeIfPossible } from './remove-if-possible.js'
import type { Context } from './verb.js'

const STDIN = 0

/** @returns 0; a signal's exit code is the caller's */
export async function runDashboard(context: Context<DashboardVerbOptions>): Promise<number> {
  if (!context.options.fresh) return watch(context)
  const { fx, output } = context
  const workspace = join(tmpdir(), `streamtop-${fx.randomUuid().slice(0, 8)}`)
  // Also when a second ctrl-c ends the process on the spot: after its children were killed.
  const forget = onExit(() => removeIfPossible(workspace, fx), { alwaysLast: true })
  try {
    const exitCode = await watch({ ...context, workspace })
    removeIfPossible(workspace, fx)
    // What is still there is tried again at the exit, when no query runs any more.
    if (!fx.files.exists(workspace)) forget()
    return exitCode
  } catch (error) {
    forget()
    if (fx.files.exists(workspace)) output.stderr(`the workspace is left for a look: ${safeText(workspace)}\n`)
    throw error
  }
}

async function watch(context: Context<DashboardVerbOptions>): Promise<number> {
  const { options, output, fx } = context
  const end = context.options.seconds === undefined ? null : new AbortController()
  if (end) void fx.sleep((options.seconds ?? 0) * 1_000, context.signal).then(() => end.abort())
  const signal = end ? AbortSignal.any([context.signal, end.signal]) : context.signal
  const isDumb = process.env.TERM === 'dumb'
  const isTerminal = output.stdoutIsTerminal && isatty(STDIN)
  if (isDumb && isTerminal && !options.plain && !context.json) output.stderr('TERM is dumb: one line an event instead of the dashboard\n')
  if (options.plain || context.json || !isTerminal || isDumb) {
    if (options.record !== undefined || options.svg !== undefined)
      throw new StreamtopError('usage', 'there is no screen to record: the dashboard needs a terminal', { hint: '"streamtop play --record" needs none' })
    const { watchPlainly } = await import('./watch-plainly.js')
    return watchPlainly(context, sessionOptionsOf(context), signal)
  }
  const { openDashboard } = await import('../tui/open-dashboard.js')
  const { openRecorder } = await import('../tui/open-recorder.js')
  await openDashboard(
    {
      theme: options.theme ?? null,
      isAscii: options.ascii ?? false,
      streams: process,
      environment: process.env,
      recorder: openRecorder(
        { cast: options.record, svg: options.svg, title: 'streamtop', theme: options.theme ?? null, environment: process.env },
        (sentence) => output.stderr(`${safeText(sentence)}\n`),
        fx,
      ),
      async open(isOver) {
        const { openProgramSession } = await import('../tui/open-program-session.js')
        return openProgramSession(sessionOptionsOf(context), { signal: isOver }, fx)
      },
    },
    signal,
    fx,
  )
  return 0
}

function sessionOptionsOf({ workspace, configFile, adopt, kafka, options }: Context<DashboardVerbOptions>): SessionOptions {
  return {
    ...{ workspace, configFile, adopt, isReadOnly: options.readOnly ?? false },
    ...{ kafka, topic: options.topic ?? null },
    ...{ intervalMs: options.interval ?? null, ratePerSecond: options.rate ?? null },
    ...(options.pace === undefined ? {} : { pace: options.pace }),
  }
}
