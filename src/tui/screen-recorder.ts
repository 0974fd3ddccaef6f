/** Somebody who is told what a dashboard's screen shows, when it shows it: a recording. */
import type { Frame, Size } from './line.js'
import type { Theme } from './theme.js'

export interface ScreenRecorder {
  /** The screen is ours from here on, in this size; again after each change of size. What was written before is gone from it. */
  began(size: Size, atMs: number): void
  /** What was written to the terminal: control sequences of streamtop's own and text that is safe. */
  wrote(text: string, atMs: number): void
  /** The frame that this text shows. */
  drew(frame: Frame, size: Size, theme: Theme, atMs: number): void
  /** A chapter begins: the caption of a play. @param text what is to be read now */
  chapter(title: string, text: string, atMs: number): void
  /** Finishes the file. Called once, also when the dashboard ends with an error. @throws usage when it could not be written */
  close(): void
}
