/** The dashboard in the terminal of this process: keys in, frames out, until it is quit. */
import type { Effects } from '../effects.js'
import { frameOf } from './frame.js'
import { FramePainter } from './frame-painter.js'
import { ASCII_GLYPHS, type Look, UNICODE_GLYPHS } from './glyphs.js'
import { KeyReader } from './key-reader.js'
import type { Model } from './model.js'
import type { PlaySetting } from './play-state.js'
import { Program, type ProgramSession } from './program.js'
import { Terminal, type TerminalStreams } from './terminal.js'
import { type Theme, themeFor, themeNamed } from './theme.js'
import type { ScreenRecorder } from './screen-recorder.js'
import { svgOf } from './svg.js'
import { loadWidths } from './width.js'

export interface DashboardOptions {
  /** Null: what the environment asks for. */
  readonly theme: string | null
  readonly isAscii: boolean
  /** Begins the session, after the first frame. */
  readonly open: (signal: AbortSignal) => Promise<ProgramSession>
  readonly streams: TerminalStreams
  /** Told what the screen shows; closed with the dashboard. */
  readonly recorder?: ScreenRecorder | null
  readonly environment: Readonly<Record<string, string | undefined>>
  /** What the workspace is called on the screen; its path unless given. */
  readonly workspaceName?: string
  /** What is played in it; null for nothing. */
  readonly play?: PlaySetting | null
}

/**
 * Runs until somebody quits or the signal fires; then the terminal is as it was and every query has ended.
 * @returns what was shown last
 * @throws what made it impossible to go on, after the terminal was left; else what its recorder could not write
 */
export async function openDashboard(options: DashboardOptions, signal: AbortSignal, fx: Effects): Promise<Model> {
  const recorder = options.recorder ?? null
  let last: Model
  try {
    last = await untilQuit(options, signal, fx)
  } catch (error) {
    closeAllTheSame(recorder)
    throw error
  }
  recorder?.close()
  return last
}

async function untilQuit(options: DashboardOptions, signal: AbortSignal, fx: Effects): Promise<Model> {
  const look: Look = {
    glyphs: options.isAscii ? ASCII_GLYPHS : UNICODE_GLYPHS,
    timeZoneOffsetMinutes: fx.timeZoneOffsetMinutes(fx.nowMs()),
  }
  let theme: Theme = themeFor(options.theme, options.environment)
  const reader = new KeyReader((key) => program.press(key), fx)
  const recorder = options.recorder ?? null
  const drawAnew = () => {
    painter.forget()
    recorder?.began(terminal.size, fx.nowMs())
    program.drawAnew()
  }
  const terminal = new Terminal(
    options.streams,
    { onInput: (text) => reader.take(text), onSize: drawAnew, onGone: () => program.quit(), onThrow: (error) => program.fail(error) },
    fx,
  )
  const painter = new FramePainter((text, done) => {
    recorder?.wrote(text, fx.nowMs())
    terminal.write(text, done)
  })
  const program = new Program(
    options.open,
    {
      get size() {
        return terminal.size
      },
      draw(model) {
        // Between two sizes, or suspended: what is drawn then would be garbage, and the next size asks for a frame.
        if (!terminal.isReady) return
        const frame = frameOf(withName(model, options.workspaceName), terminal.size, look)
        painter.paint(frame, terminal.size, theme)
        recorder?.drew(frame, terminal.size, theme, fx.nowMs())
      },
      theme(name) {
        theme = themeNamed(name, theme.background)
        program.drawAnew()
      },
      picture: (model) => svgOf(frameOf(model, terminal.size, look), terminal.size, theme),
      suspend: () => void terminal.suspend(),
      redraw: drawAnew,
      chapter: (title, text) => recorder?.chapter(title, text, fx.nowMs()),
    },
    fx,
    options.play ?? null,
  )
  const quit = () => program.quit()
  signal.addEventListener('abort', quit)
  try {
    terminal.open()
    recorder?.began(terminal.size, fx.nowMs())
    program.start()
    // The first frame may have been cut short where it is wide.
    void loadWidths().then(() => program.drawAnew())
    if (signal.aborted) quit()
    await program.ended
    return program.model
  } finally {
    reader.stop()
    painter.forget()
    terminal.close()
    signal.removeEventListener('abort', quit)
  }
}

/** Why the dashboard has failed is worth more than that its recording ends early. */
function closeAllTheSame(recorder: ScreenRecorder | null): void {
  try {
    recorder?.close()
  } catch {
    // The dashboard's own error is thrown.
  }
}

function withName(model: Model, workspace: string | undefined): Model {
  return workspace === undefined || model.state === null ? model : { ...model, state: { ...model.state, workspace } }
}
