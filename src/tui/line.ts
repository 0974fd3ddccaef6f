/**
 * A screen as data: lines of spans, each with a tone. What a tone looks like is the theme's business, so that a view is a pure
 * function whose result a test can read as text.
 */

/** What a span means. `text` is the terminal's own colour. */
export type Tone =
  | 'text'
  /** Names of panes, the program's name. */
  | 'title'
  | 'border'
  /** A key that can be pressed. */
  | 'key'
  | 'alive'
  | 'dead'
  /** Under way: a batch in flight, a query that waits or is paused. */
  | 'flight'
  /** What must not be missed: duplicates, missing rows, a refusal. */
  | 'alarm'
  /** The selected line. */
  | 'selected'
  /** What is said to people: the sentence, a caption. */
  | 'said'

export interface Span {
  readonly text: string
  readonly tone: Tone
}

export type Line = readonly Span[]

/** Exactly as many lines as the terminal has rows, none wider than its columns; the last cell of the last line stays empty. */
export type Frame = readonly Line[]

export interface Size {
  readonly columns: number
  readonly rows: number
}
