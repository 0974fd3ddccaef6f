/** Reads a whole number that was given to an option. */
import { StreamtopError } from '../errors.js'
import { safeText } from '../safe-text.js'

/**
 * A parser for `VerbOption.parse`: digits only, within both bounds.
 *
 * @param flag the option as the user wrote it, for the error: `--part`
 */
export function wholeNumber(flag: string, minimum: number, maximum: number = Number.MAX_SAFE_INTEGER): (text: string) => number {
  const range = maximum === Number.MAX_SAFE_INTEGER ? `a whole number from ${minimum} on` : `a whole number from ${minimum} to ${maximum}`
  return (text) => {
    const value = Number(text)
    if (/^\d+$/.test(text) && value >= minimum && value <= maximum) return value
    throw new StreamtopError('usage', `${flag} takes ${range}, not "${safeText(text, 40)}"`, { hint: `for example: ${flag} ${minimum}` })
  }
}
