/** Colours: which theme a terminal gets, and that each can be read by everybody. */
import { describe, expect, test } from 'vitest'
import { PALETTES } from '../../src/tui/svg.js'
import { backgroundOf, THEME_CHOICES, type Theme, themeFor, themeNamed } from '../../src/tui/theme.js'

const ALL: readonly Theme[] = ['default', 'mono', 'high-contrast'].flatMap((name) => [themeNamed(`${name}`, 'dark'), themeNamed(`${name}`, 'light')])

describe('which theme', () => {
  test.each([
    [null, {}, 'default dark'],
    [null, { COLORFGBG: '0;15' }, 'default light'],
    [null, { COLORFGBG: '15;default;0' }, 'default dark'],
    ['light', {}, 'default light'],
    ['dark', { COLORFGBG: '0;15' }, 'default dark'],
    ['high-contrast', { COLORFGBG: '0;15' }, 'high-contrast light'],
    ['high-contrast-dark', { COLORFGBG: '0;15' }, 'high-contrast dark'],
    [null, { NO_COLOR: '1' }, 'mono dark'],
    [null, { NO_COLOR: '' }, 'default dark'],
    ['high-contrast', { NO_COLOR: '1' }, 'high-contrast dark'],
    [null, { FORCE_COLOR: '0' }, 'mono dark'],
    [null, { FORCE_COLOR: '1' }, 'default dark'],
  ])('asked for %s with %j: %s', (choice, environment, expected) => {
    const { name, background } = themeFor(choice, environment)
    expect(`${name} ${background}`).toBe(expected)
  })

  test('every choice that the error names is one, and nothing else', () => {
    for (const choice of THEME_CHOICES) expect(themeNamed(choice, 'dark').styles.text).toBeDefined()
    for (const wrong of ['', 'solarized', 'mono-light', 'light-dark', '-dark', 'Default'])
      expect(() => themeNamed(wrong, 'dark')).toThrow(`there is no theme ${wrong}`)
  })

  test('a terminal that says nothing of its ground is taken for dark', () => {
    expect([undefined, '', 'default;default', '7;0', '0;7', '0;15'].map(backgroundOf)).toEqual(['dark', 'dark', 'dark', 'dark', 'light', 'light'])
  })
})

describe('readable by everybody', () => {
  test('what is alive, dead, under way and alarming looks different in each theme that has colours', () => {
    for (const theme of ALL.filter(({ name }) => name !== 'mono')) {
      const looks = (['alive', 'dead', 'flight', 'alarm', 'text'] as const).map((tone) => JSON.stringify(theme.styles[tone]))
      expect(new Set(looks).size, `${theme.name} ${theme.background}`).toBe(5)
    }
  })

  test('mono has no colour, and what must not be missed is reversed in every theme', () => {
    for (const { name, styles } of ALL) {
      if (name === 'mono') expect(Object.values(styles).every(({ color }) => color === null)).toBe(true)
      expect([styles.alarm.isReverse, styles.selected.isReverse]).toEqual([true, true])
    }
  })

  test('no theme uses green, so that nothing rests on red against green', () => {
    for (const { styles } of ALL) for (const { color } of Object.values(styles)) expect([2, 10]).not.toContain(color)
  })

  test.each(['dark', 'light'] as const)('on a %s ground each colour in use has a contrast of 4.5 to 1 in pictures', (background) => {
    const { ansi, ground, text } = PALETTES[background]
    const used = new Set(ALL.filter((theme) => theme.background === background).flatMap(({ styles }) => Object.values(styles).map(({ color }) => color)))
    for (const color of used) expect(contrast(color === null ? text : (ansi[color] ?? ''), ground), `colour ${color}`).toBeGreaterThanOrEqual(4.5)
  })
})

/** WCAG 2.1 contrast ratio of two `#rrggbb` colours. */
function contrast(one: string, other: string): number {
  const [high = 0, low = 0] = [luminance(one), luminance(other)].sort((a, b) => b - a)
  return (high + 0.05) / (low + 0.05)
}

function luminance(color: string): number {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((at) => {
    const part = Number.parseInt(color.slice(at, at + 2), 16) / 255
    return part <= 0.03928 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4
  })
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue
}
