/** A play as the dashboard shows it: what was told so far, and who is to go on. */
import type { PlayEnd, PlayEvent } from '../scenario/play-event.js'
import type { Scenario, ScriptLine } from '../scenario/scenario.js'

/** What a play is begun with. */
export interface PlaySetting {
  /** `02-plain-append-duplicates`. */
  readonly name: string
  readonly scenario: Scenario
  /** Where it waits for somebody: at each caption, at each line, or nowhere. */
  readonly waitsAt: 'captions' | 'lines' | 'nothing'
  /** So many times as fast as people read. */
  readonly speed: number
  /** For a hall: large, and nothing is foretold. */
  readonly isPresenter: boolean
}

export interface PlayState {
  readonly setting: PlaySetting
  /**
   * `waiting`: for a key. `reading`: it goes on when the caption was read. `playing`: a line is being done, or the next one begins in a
   * moment. `yours`: somebody has taken over, and no line is played any more.
   */
  readonly phase: 'opening' | 'waiting' | 'reading' | 'playing' | 'ended' | 'yours'
  readonly isPaused: boolean
  /** Whether the pause has to be taken back from the queries too: a scenario may have paused them itself. */
  readonly hasPausedQueries: boolean
  /** Those that were shown, oldest first; the first is what the scenario is about. */
  readonly captions: readonly string[]
  /** Which of them is on the screen. */
  readonly shown: number
  /** The line of the script that was begun last, as its place in the list; -1 before the first. */
  readonly at: number
  /** What came of the lines since the caption before them. */
  readonly told: readonly PlayEvent[]
  readonly unmet: number
  readonly end: PlayEnd | null
}

export function initialPlay(setting: PlaySetting): PlayState {
  return { setting, phase: 'opening', isPaused: false, hasPausedQueries: false, captions: [], shown: 0, at: -1, told: [], unmet: 0, end: null }
}

/** Whether its captions are on the screen. */
export function isPlayShown(play: PlayState | null): play is PlayState {
  return play !== null && play.phase !== 'yours'
}

/** What stands before all captions. */
export function openingCaption({ about, title }: Pick<Scenario, 'about' | 'title'>): string {
  return about ?? title
}

/** Every caption that there will be, the opening one first. */
export function allCaptions({ scenario }: PlaySetting): string[] {
  return [openingCaption(scenario), ...scenario.script.flatMap(({ action }) => (action.kind === 'say' ? [action.text] : []))]
}

/** The line that comes next; null when there is none. */
export function nextLine({ setting, at }: PlayState): ScriptLine | null {
  return setting.scenario.script[at + 1] ?? null
}

/** Whether nothing was other than expected, as far as it was played. */
export function isAsExpected({ unmet, end }: PlayState): boolean {
  return end === null ? unmet === 0 : end.isMet
}

/** Whether the screen may say what will happen: for a hall it is kept, before and after somebody has taken over. */
export function isForetold({ play }: { readonly play: PlayState | null }): boolean {
  return !(play?.setting.isPresenter ?? false)
}
