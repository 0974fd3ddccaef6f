/** What happens to a play: what it tells, and the keys that belong to it. Pure; when the next line begins is asked of the conductor. */
import type { PlayEvent } from '../scenario/play-event.js'
import { readingMs } from '../scenario/reading-time.js'
import { unasked } from './act.js'
import type { KeyPress } from './keys.js'
import { type Effect, LOG_LIMIT, type Message, type Model, type Reduced } from './model.js'
import { playActionOf } from './play-keys.js'
import { isPlayShown, openingCaption, type PlayState } from './play-state.js'
import { queryOfLine } from './play-words.js'

/** How long a line can be read before it is done, and what came of it before the next: in milliseconds, at speed 1. */
const BEFORE_ACTION_MS = 900
const AFTER_OUTCOME_MS = 900
const AFTER_CHECK_MS = 700

/** With what the play tells. */
export function takePlayEvent(model: Model, event: PlayEvent): Reduced {
  const { play } = model
  if (!isPlayShown(play)) return unasked(model)
  switch (event.kind) {
    case 'scenario':
      return withCaption(model, play, openingCaption(event), event.title)
    case 'caption':
      return withCaption(model, { ...play, at: placeOf(play, event.line) }, event.text, event.text)
    case 'action':
      return beginning(model, begun(play, event.line))
    case 'outcome':
      return afterLine(model, { ...play, told: [...play.told, event] }, AFTER_OUTCOME_MS)
    case 'expectation': {
      const next = begun(play, event.line)
      const told: PlayState = { ...next, told: [...next.told, event], unmet: next.unmet + (event.isMet ? 0 : 1) }
      return afterLine(lookingAt(model, told), told, AFTER_CHECK_MS)
    }
    case 'end':
      return unasked({ ...model, play: { ...play, phase: 'ended', end: event } })
  }
}

/** Null for a key that is no key of the play. */
export function pressInPlay(model: Model, play: PlayState, key: KeyPress): Reduced | null {
  const isMain = model.screen.kind === 'main'
  // A screen that scrolls keeps the keys that scroll it.
  if (!isMain && 'scroll' in model.screen && (key.name === 'pagedown' || key.name === 'pageup')) return null
  switch (playActionOf(key.name)) {
    case 'go-on':
      return pressedOn(isMain ? model : { ...model, screen: { kind: 'main' } }, play)
    case 'before':
      return unasked({ ...model, play: { ...play, shown: Math.max(0, play.shown - 1) } })
    case 'pause':
      return play.phase === 'ended' ? null : paused(model, play)
    case 'hand-over':
      return isMain && model.filter === '' ? handedOver(model, play) : null
    default:
      return null
  }
}

/** The play stops where it is, and the workspace is the audience's. */
export function handedOver(model: Model, play: PlayState): Reduced {
  const stoppedAt = play.setting.scenario.script[Math.max(0, play.at)]?.line ?? 1
  const text = `${HANDED_OVER}: ${play.phase === 'ended' ? 'the play is over' : `the play has stopped at line ${stoppedAt}`}`
  return {
    model: {
      ...model,
      play: { ...play, phase: 'yours', isPaused: false },
      message: { kind: 'done', text, atMs: model.nowMs },
      log: [...model.log, { atMs: model.nowMs, who: 'streamtop', kind: 'note' as const, text }].slice(-LOG_LIMIT),
    },
    effects: [{ kind: 'play-stop' }],
  }
}

/** What became of the key that took over is said behind that it did. */
export function withHandOver({ play, message }: Model, outcome: Message): Message {
  const isTakenOver = play?.phase === 'yours' && message !== null && message.text.startsWith(HANDED_OVER) && !message.text.includes(';')
  return isTakenOver ? { ...outcome, text: `${message.text}; ${outcome.text}` } : outcome
}

/** What a key or a command has asked for is done, and if it changes the workspace the play is over: it is somebody else's story now. */
export function takenOver(reduced: Reduced): Reduced {
  const { play } = reduced.model
  if (!isPlayShown(play) || play.phase === 'opening' || !reduced.effects.some(changesWorkspace)) return reduced
  const { model, effects } = handedOver(reduced.model, play)
  return { model, effects: [...effects, ...reduced.effects] }
}

/** The pace may be changed while it plays, and its own keys hold everything. */
function changesWorkspace(effect: Effect): boolean {
  return effect.kind === 'perform' && effect.action.name !== 'pace' && effect.by !== BY_PLAY
}

const HANDED_OVER = 'yours now'

/** Who asks for the pause of the queries, as the log says it. */
const BY_PLAY = 'space'

function withCaption(model: Model, play: PlayState, text: string, title: string): Reduced {
  const { waitsAt, speed } = play.setting
  const captions = [...play.captions, text]
  const next: PlayState = { ...play, captions, shown: captions.length - 1 }
  const chapter: Effect = { kind: 'chapter', title, text }
  if (waitsAt !== 'nothing') return { model: { ...model, play: { ...next, phase: 'waiting' } }, effects: [chapter] }
  return { model: { ...model, play: { ...next, phase: 'reading' } }, effects: [chapter, { kind: 'play-next', afterMs: readingMs(text, speed) }] }
}

/** A line is begun: what was told of the lines before the last caption goes, and the query that it is about is looked at. */
function begun(play: PlayState, line: number): PlayState {
  const { script } = play.setting.scenario
  const isAfterCaption = play.at < 0 || script[play.at]?.action.kind === 'say'
  return { ...play, at: placeOf(play, line), told: isAfterCaption ? [] : play.told, shown: play.captions.length - 1 }
}

/** An action is done when people have read what it is; by hand they have, before they pressed. */
function beginning(model: Model, play: PlayState): Reduced {
  return withNext(lookingAt(model, play), play, play.setting.waitsAt === 'lines' ? 0 : BEFORE_ACTION_MS)
}

function afterLine(model: Model, play: PlayState, afterMs: number): Reduced {
  return play.setting.waitsAt === 'lines' ? unasked({ ...model, play: { ...play, phase: 'waiting' } }) : withNext(model, play, afterMs)
}

function withNext(model: Model, play: PlayState, afterMs: number): Reduced {
  return { model: { ...model, play: { ...play, phase: 'playing' } }, effects: [{ kind: 'play-next', afterMs: afterMs / play.setting.speed }] }
}

function lookingAt(model: Model, { setting, at }: PlayState): Model {
  const action = setting.scenario.script[at]?.action
  const infos = (model.state?.queries ?? []).map(({ info }) => info)
  const queryOfTable = (table: string) => infos.find((info) => info.table === table || info.writes.includes(table))?.name ?? null
  const query = action === undefined ? null : queryOfLine(action, queryOfTable)
  return query === null || !infos.some(({ name }) => name === query) ? model : { ...model, selected: query }
}

function placeOf({ setting }: PlayState, line: number): number {
  return setting.scenario.script.findIndex((one) => one.line === line)
}

/** Back to the newest caption, out of a pause, or on: the first of these that there is something to. */
function pressedOn(model: Model, play: PlayState): Reduced {
  if (play.shown < play.captions.length - 1) return unasked({ ...model, play: { ...play, shown: play.shown + 1 } })
  if (play.isPaused) return paused(model, play)
  if (play.phase === 'opening' || play.phase === 'ended') return unasked(model)
  // While lines are played a press only makes the next one come at once.
  return { model: { ...model, play: { ...play, phase: 'playing' } }, effects: [{ kind: 'play-next', afterMs: 0 }] }
}

function paused(model: Model, play: PlayState): Reduced {
  if (play.phase === 'opening') return unasked(model)
  if (play.isPaused) {
    const resume: Effect[] = play.hasPausedQueries ? [{ kind: 'perform', action: { name: 'resume' }, by: BY_PLAY }] : []
    return { model: { ...model, play: { ...play, isPaused: false, hasPausedQueries: false }, message: null }, effects: [{ kind: 'play-resume' }, ...resume] }
  }
  const hasPausedQueries = !(model.state?.isPaused ?? true)
  const pause: Effect[] = hasPausedQueries ? [{ kind: 'perform', action: { name: 'pause' }, by: BY_PLAY }] : []
  return { model: { ...model, play: { ...play, isPaused: true, hasPausedQueries } }, effects: [{ kind: 'play-pause' }, ...pause] }
}
