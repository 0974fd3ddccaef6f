/** What a play tells, in words: a check with what was found instead, and its end. Foreign text is in it as it is. */
import type { Check, CheckValue, PlayEnd } from './play-event.js'
import type { Expectation } from './scenario.js'

/** What is looked at, in words: `table events_copy where order_id is 1001`. */
export function subjectOf(expectation: Expectation): string {
  switch (expectation.kind) {
    case 'table': {
      const where = Object.entries(expectation.where ?? {}).map(([column, value]) => `${column} is ${value}`)
      return `table ${expectation.table}${where.length > 0 ? ` where ${where.join(' and ')}` : ''}`
    }
    case 'topic':
      return `topic ${expectation.topic}`
    case 'error':
      return 'the line before'
    default:
      return `${expectation.kind} ${expectation.query}`
  }
}

/** `rows 18`, or with what was found instead: `rows 9 (found 18)`. */
export function checkText({ field, expected, found, isMet }: Check): string {
  return `${field} ${valueText(expected)}${isMet ? '' : ` (found ${valueText(found)})`}`
}

function valueText(value: CheckValue): string {
  if (value === null) return 'null'
  if (Array.isArray(value)) return value.length === 0 ? 'none' : `[${value.map(valueText).join(', ')}]`
  if (typeof value !== 'object') return String(value)
  const fields = Object.entries(value).map(([field, inner]) => `${field}: ${valueText(inner)}`)
  return `{ ${fields.join(', ')} }`
}

/** `5 of 5 expectations met`. */
export function endText({ expectations, unmet, failedLine }: PlayEnd): string {
  const met = `${expectations - unmet} of ${expectations} expectations met`
  return failedLine === null ? met : `line ${failedLine} failed, ${met}`
}
