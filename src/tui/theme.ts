/**
 * What each tone looks like. Only the sixteen ANSI colours, which people have set to what they can read, the terminal's own colours,
 * bold and reverse: never dim, and nothing that a state is told by alone, since views give each state a letter and a shape too.
 *
 * No theme uses green, so that nothing rests on red against green: alive is cyan or blue, what must not be missed is reversed.
 */
import { StreamtopError } from '../errors.js'
import type { Tone } from './line.js'

/** As SGR counts them: 0 black, 1 red, 2 green, 3 yellow, 4 blue, 5 magenta, 6 cyan, 7 white, and the same bright from 8 on. */
export type AnsiColor = 0 | 1 | 2 | 3 | 4 | 5 | 6 | 7 | 8 | 9 | 10 | 11 | 12 | 13 | 14 | 15

export interface ToneStyle {
  /** Null is the terminal's own. */
  readonly color: AnsiColor | null
  readonly isBold: boolean
  readonly isReverse: boolean
}

export type Background = 'dark' | 'light'

export interface Theme {
  readonly name: ThemeName
  readonly background: Background
  readonly styles: Readonly<Record<Tone, ToneStyle>>
}

export type ThemeName = (typeof THEME_NAMES)[number]

export const THEME_NAMES = ['default', 'mono', 'high-contrast'] as const

/** What `--theme` and `:theme` take: a theme for the background that was found, or for one that is named. */
export const THEME_CHOICES: readonly string[] = [...THEME_NAMES, 'dark', 'light', 'high-contrast-dark', 'high-contrast-light']

/**
 * The theme that was asked for. `dark` and `light` are the default theme on that background.
 * @param found the background to expect when the name does not say
 * @throws usage for a name that is none
 */
export function themeNamed(choice: string, found: Background): Theme {
  const [, named = '', background] = /^(.*?)-?(dark|light)?$/.exec(choice) ?? []
  const name = THEME_NAMES.find((known) => known === (named === '' && background !== undefined ? 'default' : named))
  if (name === undefined || !THEME_CHOICES.includes(choice))
    throw new StreamtopError('usage', `there is no theme ${choice}`, { hint: `themes: ${THEME_CHOICES.join(', ')}` })
  const on = background === undefined ? found : (background as Background)
  return { name, background: on, styles: STYLES[name][on] }
}

/**
 * The theme of a terminal: what was asked for by name, which wins as no-color.org has it; else `mono` where no colours are wanted
 * (`NO_COLOR` not empty, or `FORCE_COLOR=0`); else the default. Bold and reverse are no colours and stay.
 */
export function themeFor(choice: string | null, environment: Readonly<Record<string, string | undefined>>): Theme {
  const isColourless = (environment.NO_COLOR ?? '') !== '' || environment.FORCE_COLOR === '0' || environment.FORCE_COLOR === 'false'
  return themeNamed(choice ?? (isColourless ? 'mono' : 'default'), backgroundOf(environment.COLORFGBG))
}

/** rxvt, Konsole and others say `foreground;background` in COLORFGBG, by ANSI number. A terminal that says nothing is dark. */
export function backgroundOf(colorFgBg: string | undefined): Background {
  const number = /(?:^|;)(\d+)$/.exec(colorFgBg ?? '')?.[1]
  return number === '7' || number === '15' ? 'light' : 'dark'
}

/** `96 bold reverse` as a style; nothing is the terminal's own. */
function style(color: AnsiColor | null = null, ...marks: readonly ('bold' | 'reverse')[]): ToneStyle {
  return { color, isBold: marks.includes('bold'), isReverse: marks.includes('reverse') }
}

const MONO: Theme['styles'] = {
  text: style(),
  title: style(null, 'bold'),
  border: style(),
  key: style(null, 'bold'),
  alive: style(),
  dead: style(null, 'bold'),
  flight: style(),
  alarm: style(null, 'bold', 'reverse'),
  selected: style(null, 'bold', 'reverse'),
  said: style(null, 'bold'),
}

const STYLES: Readonly<Record<ThemeName, Readonly<Record<Background, Theme['styles']>>>> = {
  default: {
    dark: { ...MONO, key: style(6, 'bold'), alive: style(6), dead: style(9, 'bold'), flight: style(3), alarm: style(3, 'bold', 'reverse') },
    light: { ...MONO, key: style(4, 'bold'), alive: style(4), dead: style(1, 'bold'), flight: style(5), alarm: style(1, 'bold', 'reverse') },
  },
  mono: { dark: MONO, light: MONO },
  'high-contrast': {
    dark: {
      ...MONO,
      text: style(15),
      border: style(15),
      title: style(15, 'bold'),
      said: style(15, 'bold'),
      key: style(11, 'bold'),
      alive: style(14, 'bold'),
      dead: style(15, 'bold', 'reverse'),
      flight: style(11, 'bold'),
      alarm: style(11, 'bold', 'reverse'),
    },
    light: {
      ...MONO,
      text: style(0),
      border: style(0),
      title: style(0, 'bold'),
      said: style(0, 'bold'),
      key: style(4, 'bold'),
      alive: style(4, 'bold'),
      dead: style(0, 'bold', 'reverse'),
      flight: style(0, 'bold'),
      alarm: style(1, 'bold', 'reverse'),
    },
  },
}
