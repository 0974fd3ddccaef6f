/** What the screen shows, as data, and what can happen to it. `reduce.ts` makes the next model, `frame.ts` draws one. */
import type { Step } from '../engine/steps.js'
import type { HistoryLine } from '../observe/table-history.js'
import type { PlayEvent } from '../scenario/play-event.js'
import type { SessionAction } from '../session/session.js'
import type { LogEntry, SessionMessage, SessionState, WorkspaceView } from '../session/session-state.js'
import type { TableRows } from '../session/workspace-service.js'
import type { KeyPress } from './keys.js'
import type { PlayState } from './play-state.js'

export interface Model {
  /** Null until the workspace is open. */
  readonly state: SessionState | null
  readonly view: WorkspaceView | null
  /** Oldest first, at most `LOG_LIMIT`. */
  readonly log: readonly LogEntry[]
  /** Of the last tick; ages are told from it. */
  readonly nowMs: number
  /** The name of the selected query. */
  readonly selected: string | null
  readonly screen: Screen
  readonly prompt: Prompt | null
  readonly chooser: StepChooser | null
  readonly confirm: Confirm | null
  /** Only what contains it is shown; a leading `!` turns it around. Empty for none. */
  readonly filter: string
  /** What became of the last thing that was asked, or why it cannot be done. */
  readonly message: Message | null
  /** Records a second that arrived at the topic, one number a second, oldest first. */
  readonly arrivals: readonly number[]
  /** Of the prompt, oldest first. */
  readonly commandHistory: readonly string[]
  readonly isQuitting: boolean
  /** The scenario that is played, or was until somebody took over; null for none. */
  readonly play: PlayState | null
}

export const LOG_LIMIT = 1_000

export type Screen =
  | { readonly kind: 'main' }
  /** One pane large. */
  | { readonly kind: 'zoom'; readonly pane: ZoomPane; readonly scroll: number }
  | { readonly kind: 'help'; readonly scroll: number }
  | { readonly kind: 'figures' }
  /** `content` is null until it was read. */
  | { readonly kind: 'rows'; readonly table: string; readonly content: TableRows | null; readonly scroll: number }
  | { readonly kind: 'history'; readonly table: string; readonly content: readonly HistoryLine[] | null; readonly scroll: number }

export type ZoomPane = 'logs' | 'events'

export interface Prompt {
  readonly kind: 'command' | 'filter'
  readonly text: string
  /** In code points from the left. */
  readonly cursor: number
  /** While history is walked: how far back. */
  readonly historyIndex: number | null
}

export interface StepChooser {
  readonly query: string
  readonly step: Step
}

/** Asked before what cannot be taken back. `y` does it, everything else does not. */
export interface Confirm {
  readonly question: string
  readonly action: SessionAction
  readonly by: string
}

export interface Message {
  readonly kind: 'done' | 'refused'
  readonly text: string
  readonly atMs: number
}

/** What happens to a model. */
export type Input =
  | SessionMessage
  | { readonly kind: 'key'; readonly key: KeyPress }
  | { readonly kind: 'tick'; readonly nowMs: number }
  /** What became of an effect `perform`. */
  | { readonly kind: 'outcome'; readonly message: Message }
  | { readonly kind: 'rows'; readonly table: string; readonly content: TableRows }
  | { readonly kind: 'history'; readonly table: string; readonly content: readonly HistoryLine[] }
  | { readonly kind: 'play'; readonly event: PlayEvent }

/** What a model asks for. */
export type Effect =
  | { readonly kind: 'perform'; readonly action: SessionAction; readonly by: string }
  | { readonly kind: 'watch'; readonly query: string | null; readonly batchLimit: number }
  | { readonly kind: 'read-rows'; readonly table: string }
  | { readonly kind: 'read-history'; readonly table: string }
  | { readonly kind: 'theme'; readonly name: string }
  /** The screen, as SVG into a file that is not there yet. */
  | { readonly kind: 'picture'; readonly path: string }
  /** The next line of the play begins after so long, or is told; one that is under way is not hastened. */
  | { readonly kind: 'play-next'; readonly afterMs: number }
  | { readonly kind: 'play-pause' | 'play-resume' | 'play-stop' }
  /** A caption is shown: for a recording. */
  | { readonly kind: 'chapter'; readonly title: string; readonly text: string }
  /** Ctrl-z, and ctrl-l. */
  | { readonly kind: 'suspend' | 'redraw' | 'quit' }

export interface Reduced {
  readonly model: Model
  readonly effects: readonly Effect[]
}
