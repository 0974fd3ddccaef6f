/** Keys that move through a screen which is longer than the terminal is high. Pure. */
import type { KeyPress } from './keys.js'
import type { Size } from './line.js'
import type { Model } from './model.js'
import { scrollRoom } from './overlay.js'

/** The model after a key that scrolls; null when the screen does not scroll, or the key does not. */
export function scrollBy(model: Model, key: KeyPress, size: Size): Model | null {
  const { screen } = model
  const move = MOVES[key.name]
  if (move === undefined || !('scroll' in screen)) return null
  const { pageRows, mostRows } = scrollRoom(model, size)
  // After a resize it may stand further than there is.
  const from = Math.min(screen.scroll, mostRows)
  const scroll = Math.min(mostRows, Math.max(0, move === 'home' ? 0 : move === 'end' ? mostRows : from + move.rows + move.pages * pageRows))
  return scroll === screen.scroll ? model : { ...model, screen: { ...screen, scroll } }
}

const MOVES: Readonly<Record<string, 'home' | 'end' | { readonly rows: number; readonly pages: number }>> = {
  up: { rows: -1, pages: 0 },
  k: { rows: -1, pages: 0 },
  down: { rows: 1, pages: 0 },
  j: { rows: 1, pages: 0 },
  pageup: { rows: 0, pages: -1 },
  'ctrl-b': { rows: 0, pages: -1 },
  pagedown: { rows: 0, pages: 1 },
  'ctrl-f': { rows: 0, pages: 1 },
  home: 'home',
  end: 'end',
}
