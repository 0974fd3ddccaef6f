/** The keys that belong to a play while it is on: what they do, for whoever presses them, the footer and the help. */
import type { Glyphs } from './glyphs.js'
import { keysLabel } from './key-label.js'

export type PlayAction = 'go-on' | 'before' | 'pause' | 'hand-over'

export interface PlayKey {
  readonly name: PlayAction
  readonly keys: readonly string[]
  /** For the footer. */
  readonly label: string
  /** For the help. */
  readonly does: string
}

/** A presenter's clicker sends page down and page up. */
export const PLAY_KEYS: readonly PlayKey[] = [
  { name: 'go-on', keys: ['enter', 'right', 'pagedown'], label: 'go on', does: 'what follows happens, up to the next caption; so with right and page down' },
  { name: 'pause', keys: ['space'], label: 'pause', does: 'hold the play and every query, or let them go on' },
  { name: 'before', keys: ['left', 'pageup'], label: 'before', does: 'the caption before, to read it again; so with page up' },
  {
    name: 'hand-over',
    keys: ['escape'],
    label: 'yours',
    does: 'the play stops and the workspace is yours; so does every key that changes something, except [ and ]',
  },
]

export function playActionOf(key: string): PlayAction | null {
  return PLAY_KEYS.find(({ keys }) => keys.includes(key))?.name ?? null
}

/** The first key of each, as footers print it. */
export function playKeyLabel(name: PlayAction, { isAscii }: Glyphs): string {
  return keysLabel(PLAY_KEYS.find((one) => one.name === name)?.keys.slice(0, 1) ?? [], isAscii)
}
