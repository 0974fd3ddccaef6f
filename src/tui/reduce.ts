/**
 * The dashboard's one reducer: a model and what happened to it, to the next model and what it asks for. Pure and total: every input in
 * every mode has an answer. A model that nothing changed is given back itself, so that no frame is drawn.
 */
import { isDeepStrictEqual } from 'node:util'
import type { LogEntry, WorkspaceView } from '../session/session-state.js'
import { act, requestOfKey, unasked } from './act.js'
import { countArrivals } from './arrivals.js'
import type { KeyPress } from './keys.js'
import type { Size } from './line.js'
import { type Effect, type Input, LOG_LIMIT, type Model, type Reduced, type Screen } from './model.js'
import { pressInPlay, takenOver, takePlayEvent, withHandOver } from './play-reduce.js'
import { initialPlay, isPlayShown, type PlaySetting } from './play-state.js'
import { pressInChooser, pressInConfirm } from './press-in-dialog.js'
import { pressInPrompt } from './press-in-prompt.js'
import { scrollBy } from './scroll.js'
import { selectShown } from './select.js'

/** How long a message stays, in milliseconds. */
export const MESSAGE_MS = 8_000

/** Batches and versions that are looked at on the main screen, and for a pane that fills the screen. */
const BATCHES = 12
const ZOOMED_BATCHES = 100

/** Before anything is known. */
export function initialModel(nowMs: number, setting: PlaySetting | null = null): Model {
  return {
    state: null,
    view: null,
    log: [],
    nowMs,
    selected: null,
    screen: { kind: 'main' },
    prompt: null,
    chooser: null,
    confirm: null,
    filter: '',
    message: null,
    arrivals: [],
    commandHistory: [],
    isQuitting: false,
    play: setting && initialPlay(setting),
  }
}

/** @param size of the terminal: how far a screen can be scrolled depends on it */
export function reduce(model: Model, input: Input, size: Size = { columns: 80, rows: 24 }): Reduced {
  const reduced = take(model, input, size)
  const watching = watchOf(reduced.model)
  return isDeepStrictEqual(watching, watchOf(model)) ? reduced : { model: reduced.model, effects: [...reduced.effects, watching] }
}

/** The query whose batches are on the screen, and how many of them. */
function watchOf({ selected, screen }: Model): Effect {
  return { kind: 'watch', query: selected, batchLimit: screen.kind === 'zoom' ? ZOOMED_BATCHES : BATCHES }
}

function take(model: Model, input: Input, size: Size): Reduced {
  switch (input.kind) {
    case 'state':
      return unasked(input.state === model.state ? model : withoutLostQueries(selectShown({ ...model, state: input.state }, 0)))
    case 'view':
      return { model: withView(model, input.view), effects: readAgain(model, input.view) }
    case 'log':
      return unasked({ ...model, log: [...model.log, input.entry].slice(-LOG_LIMIT), message: messageAfter(model, input.entry) })
    case 'key':
      return takenOver(press(model, input.key, size))
    case 'play':
      return takePlayEvent(model, input.event)
    case 'tick':
      return unasked(withTime(model, input.nowMs))
    case 'outcome':
      return unasked({ ...model, message: withHandOver(model, input.message) })
    case 'rows':
    case 'history':
      return unasked(withContent(model, input))
  }
}

function press(model: Model, key: KeyPress, size: Size): Reduced {
  if (key.name === 'ctrl-l') return { model, effects: [{ kind: 'redraw' }] }
  if (key.name === 'ctrl-z') return { model, effects: [{ kind: 'suspend' }] }
  const request = requestOfKey(key.name)
  // The one key that means the same everywhere.
  if (key.name === 'ctrl-c') return act(model, { action: 'quit' }, key.name)
  if (model.isQuitting) return request?.action === 'quit' ? act(model, request, key.name) : unasked(model)
  if (model.confirm) return pressInConfirm(model, model.confirm, key)
  if (model.prompt) return pressInPrompt(model, model.prompt, key)
  if (model.chooser) return pressInChooser(model, model.chooser, key)
  const inPlay = isPlayShown(model.play) ? pressInPlay(model, model.play, key) : null
  if (inPlay) return inPlay
  const scrolled = scrollBy(model, key, size)
  if (scrolled) return unasked(scrolled)
  return request === null ? unasked(model) : act(model, request, key.name)
}

/** A dialog about a query that is gone is over. */
function withoutLostQueries(model: Model): Model {
  const isKnown = (name: string) => model.state?.queries.some(({ info }) => info.name === name) ?? false
  const { chooser, confirm } = model
  return {
    ...model,
    chooser: chooser && isKnown(chooser.query) ? chooser : null,
    confirm: confirm && 'query' in confirm.action && !isKnown(confirm.action.query) ? null : confirm,
  }
}

function withView(model: Model, view: WorkspaceView): Model {
  const before = model.view
  if (view === before) return model
  // While all is paused nothing is drawn for a look that found the same.
  if (before && model.state?.isPaused && isDeepStrictEqual({ ...view, takenAtMs: 0 }, { ...before, takenAtMs: 0 })) return model
  return { ...model, view, arrivals: countArrivals(model.arrivals, before, view) }
}

/** A table that has another version than the screen shows, unless somebody has scrolled away from the newest. */
function readAgain({ screen }: Model, { status }: WorkspaceView): readonly Effect[] {
  if ((screen.kind !== 'rows' && screen.kind !== 'history') || screen.content === null || screen.scroll > 0) return []
  const newest = status.tables.find(({ name }) => name === screen.table)?.version ?? null
  const shown = screen.kind === 'rows' ? screen.content.version : (screen.content[0]?.version ?? -1)
  // Not only a newer one: a table that was dropped and made again counts from 0.
  if (newest === null || newest === shown) return []
  return [{ kind: screen.kind === 'rows' ? 'read-rows' : 'read-history', table: screen.table }]
}

/** Ages are told from the time of the last tick; in a pause what was said stays. */
function withTime(model: Model, nowMs: number): Model {
  const { message } = model
  const isOver = message !== null && !model.state?.isPaused && nowMs - message.atMs >= MESSAGE_MS
  if (nowMs === model.nowMs && !isOver) return model
  return { ...model, nowMs, message: isOver ? null : message }
}

/** What was read of a table, if it is still asked for. */
function withContent(model: Model, { kind, table, content }: Extract<Input, { kind: 'rows' | 'history' }>): Model {
  const { screen } = model
  if (screen.kind !== kind || screen.table !== table) return model
  return { ...model, screen: { ...screen, content } as Screen }
}

/** That a query will die says nothing any more once it has. */
function messageAfter({ message }: Model, { kind }: LogEntry): Model['message'] {
  return message?.kind === 'done' && (kind === 'killed' || kind === 'failed') ? null : message
}
