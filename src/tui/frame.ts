/** A model drawn: which screen, and that every frame is legal at every size. Pure. */
import { bottomLines } from './bottom-lines.js'
import type { Look } from './glyphs.js'
import type { Frame, Line, Size } from './line.js'
import { legalFrame, onePane, wholeScreen, withBottom } from './main-screen.js'
import type { Model } from './model.js'
import { overlayOf } from './overlay.js'
import { playScreen } from './play-screen.js'
import { isPlayShown } from './play-state.js'
import { isTooSmall, tooSmall } from './too-small.js'
import { zoomScreen } from './zoom.js'

/** All panes from this size on. */
const WHOLE: Size = { columns: 60, rows: 15 }

/**
 * Exactly `size.rows` lines, none wider than `size.columns` cells, the last cell of the last line empty. While everything is paused
 * it does not depend on `model.nowMs` and `model.arrivals`, so that nothing is drawn again.
 */
export function frameOf(model: Model, size: Size, look: Look): Frame {
  const { ellipsis } = look.glyphs
  if (isTooSmall(size)) return legalFrame(tooSmall(size), size, ellipsis)
  const overlay = overlayOf(model, size, look)
  if (overlay !== null) return legalFrame(overlay, size, ellipsis)
  const lines = screenOf(model, size, look)
  const bottom = bottomLines(model, size.columns, look, size.rows - 2)
  return legalFrame(bottom === null ? lines : withBottom(lines, bottom, size), size, ellipsis)
}

function screenOf(model: Model, size: Size, look: Look): readonly Line[] {
  if (model.screen.kind === 'zoom') return zoomScreen(model, model.screen, size, look)
  if (isPlayShown(model.play)) return playScreen(model, model.play, size, look)
  return size.columns < WHOLE.columns || size.rows < WHOLE.rows ? onePane(model, size, look) : wholeScreen(model, size, look)
}
