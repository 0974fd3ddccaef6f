/** Every character of the screens that is not a letter, in two sets: one for terminals that draw Unicode, one of ASCII alone. */
import type { LogEntry } from '../session/session-state.js'
import type { ConditionName } from './query-condition.js'

export interface Glyphs {
  /** Whether foreign text is to be shown in ASCII too. */
  readonly isAscii: boolean
  readonly condition: Readonly<Record<ConditionName, string>>
  /** Of a step. `passed`: never reached and gone by, as the writing steps of a write that was skipped. */
  readonly step: Readonly<Record<'reached' | 'held' | 'died' | 'armed' | 'unreached' | 'passed', string>>
  readonly log: Readonly<Record<LogEntry['kind'], string>>
  /** Beside the selected line. */
  readonly selected: string
  /** Points at what is missing. */
  readonly missing: string
  readonly ellipsis: string
  readonly border: Readonly<Record<'horizontal' | 'vertical' | 'topLeft' | 'topRight' | 'bottomLeft' | 'bottomRight', string>>
  /** From nothing to the most. */
  readonly spark: readonly string[]
}

export const UNICODE_GLYPHS: Glyphs = {
  isAscii: false,
  condition: {
    unknown: '·',
    starting: '◌',
    running: '●',
    armed: '◎',
    waiting: '◇',
    paused: '◐',
    held: '◐',
    stopping: '◌',
    killed: '✕',
    failed: '▲',
    stopped: '■',
    idle: '○',
    elsewhere: '◆',
  },
  step: { reached: '●', held: '◐', died: '✕', armed: '◎', unreached: '○', passed: '·' },
  log: { asked: '>', committed: '●', skipped: '=', killed: '✕', failed: '▲', waiting: '◇', note: '·', started: '▶', stopped: '■' },
  selected: '▶',
  missing: '◀',
  ellipsis: '…',
  border: { horizontal: '─', vertical: '│', topLeft: '╭', topRight: '╮', bottomLeft: '╰', bottomRight: '╯' },
  spark: ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'],
}

export const ASCII_GLYPHS: Glyphs = {
  isAscii: true,
  condition: {
    unknown: '.',
    starting: '.',
    running: '*',
    armed: '!',
    waiting: ':',
    paused: '"',
    held: '"',
    stopping: '.',
    killed: 'x',
    failed: '#',
    stopped: '_',
    idle: 'o',
    elsewhere: '@',
  },
  step: { reached: '*', held: '"', died: 'x', armed: '!', unreached: 'o', passed: '.' },
  log: { asked: '>', committed: '*', skipped: '=', killed: 'x', failed: '#', waiting: ':', note: '.', started: '*', stopped: '_' },
  selected: '>',
  missing: '<',
  ellipsis: '...',
  border: { horizontal: '-', vertical: '|', topLeft: '+', topRight: '+', bottomLeft: '+', bottomRight: '+' },
  spark: ['_', '.', ',', '-', '=', '+', '*', '#'],
}

/** How a screen is to be drawn, apart from its colours. */
export interface Look {
  readonly glyphs: Glyphs
  /** What is added to UTC for the local time of day, in minutes: 120 for UTC+2. */
  readonly timeZoneOffsetMinutes: number
}

export type StepShape = keyof Glyphs['step']
