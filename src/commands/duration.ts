/** Reads a duration that was given to an option. */
import { StreamtopError } from '../errors.js'
import { safeText } from '../safe-text.js'

const UNIT_MS: Readonly<Record<string, number>> = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 }

/**
 * A parser for `VerbOption.parse`: `7d`, `36h`, `90m`, `30s`, `2w`, or 0. Gives milliseconds.
 *
 * @param flag the option as the user wrote it, for the error
 */
export function duration(flag: string): (text: string) => number {
  return (text) => {
    const [, count = '', unit = ''] = /^(\d{1,9})([smhdw]?)$/.exec(text) ?? []
    if (count !== '' && (unit !== '' || Number(count) === 0)) return Number(count) * (UNIT_MS[unit] ?? 0)
    throw new StreamtopError('usage', `${flag} takes a duration such as 7d, 36h or 90m, not "${safeText(text, 40)}"`, { hint: `for example: ${flag} 7d` })
  }
}
