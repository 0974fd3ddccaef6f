/** What `frame` does: one look at a workspace as a model, and the model as text or as a picture. */
import { resolve } from 'node:path'
import type { Effects } from '../effects.js'
import { StreamtopError } from '../errors.js'
import { afterLook, newLiveQuery } from '../session/live-query.js'
import { openWorkspaceService } from '../session/open-workspace-service.js'
import { PACES, type Pace, type SessionState, type WorkspaceView } from '../session/session-state.js'
import { frameOf } from '../tui/frame.js'
import { ASCII_GLYPHS, UNICODE_GLYPHS } from '../tui/glyphs.js'
import type { Size } from '../tui/line.js'
import type { Model } from '../tui/model.js'
import { createNewFile } from '../tui/new-file.js'
import { paintLine, textOf } from '../tui/paint.js'
import { initialModel, reduce } from '../tui/reduce.js'
import { svgOf } from '../tui/svg.js'
import { themeFor } from '../tui/theme.js'
import { loadWidths } from '../tui/width.js'
import type { FrameOptions } from './frame.js'
import type { Context } from './verb.js'

/** @returns 0 */
export async function drawFrame(context: Context<FrameOptions>): Promise<number> {
  const { options, output, fx } = context
  const theme = themeFor(options.theme ?? null, process.env)
  const isOnTerminal = output.stdoutIsTerminal && options.svg === undefined
  const size: Size = {
    columns: options.columns ?? (isOnTerminal && process.stdout.columns > 0 ? process.stdout.columns : 80),
    rows: options.rows ?? (isOnTerminal && process.stdout.rows > 0 ? process.stdout.rows : 24),
  }
  const look = { glyphs: options.ascii ? ASCII_GLYPHS : UNICODE_GLYPHS, timeZoneOffsetMinutes: fx.timeZoneOffsetMinutes(fx.nowMs()) }
  await loadWidths()
  const lines = frameOf(await lookedAt(context, fx), size, look)
  if (options.svg !== undefined) {
    // A picture of an earlier run goes; any other file that is created is never overwritten.
    if (fx.files.status(options.svg)?.isFolder === false) fx.files.remove(resolve(options.svg))
    createNewFile(options.svg, svgOf(lines, size, theme), fx)
    return 0
  }
  const isColoured = isOnTerminal && process.env.TERM !== 'dumb'
  output.stdout(`${lines.map((line) => (isColoured ? paintLine(line, theme) : textOf(line))).join('\n')}\n`)
  return 0
}

/** The model of a dashboard that only reads, after its first look. */
async function lookedAt({ workspace, configFile, kafka, options, signal }: Context<FrameOptions>, fx: Effects): Promise<Model> {
  const service = openWorkspaceService(fx)
  const opened = await service.open({ workspace, configFile, isReadOnly: true, adopt: false, kafka, topic: options.topic ?? null })
  const chosen = options.query
  if (chosen !== undefined && !opened.queries.some(({ name }) => name === chosen))
    throw new StreamtopError('unknown-query', `there is no query ${chosen}`, { hint: `queries here: ${opened.queries.map(({ name }) => name).join(', ')}` })
  const state: SessionState = {
    workspace,
    access: opened.access,
    holderPid: opened.holderPid,
    queries: opened.queries.map(newLiveQuery),
    pace: PACES.find(({ name }) => name === 'slow') as Pace,
    isPaused: false,
    generator: { isOn: false, ratePerSecond: 0 },
    isFirstStart: false,
  }
  let { model, effects } = reduce(initialModel(fx.nowMs()), { kind: 'state', state })
  if (chosen !== undefined) model = { ...model, selected: chosen }
  const watch = effects.filter((effect) => effect.kind === 'watch').at(-1)
  const look = () => service.look(model.selected, watch?.batchLimit ?? BATCH_LIMIT)
  let view = await look()
  while (!isWhole(view) && !signal.aborted) {
    await fx.sleep(PAUSE_MS, signal)
    view = await look()
  }
  await service.close()
  model = reduce(model, { kind: 'state', state: withLook(state, view) }).model
  return reduce(model, { kind: 'view', view }).model
}

/** Whether everything is counted, and brokers have answered or had their time. */
function isWhole({ isCounted, status }: WorkspaceView): boolean {
  return isCounted !== false && status.kafka?.state !== 'connecting'
}

const PAUSE_MS = 25

function withLook(state: SessionState, { status }: WorkspaceView): SessionState {
  return { ...state, queries: state.queries.map((query) => afterLook(query, status.queries.find(({ name }) => name === query.info.name) ?? null, null)) }
}

const BATCH_LIMIT = 20
