/** What a line of a scenario does, in words, and the keys it stands for: those of the table of actions. Pure. */
import { counted } from '../observe/counted.js'
import { subjectOf } from '../scenario/play-text.js'
import type { ScriptAction, ScriptRun } from '../scenario/scenario.js'
import { type ActionName, actionNamed } from '../session/actions.js'

export interface LineWords {
  /** As they are pressed, in order; none where no key does it. */
  readonly keys: readonly string[]
  /** Goes on behind the keys: `kills the next batch of events_copy at table-committed`. */
  readonly text: string
}

/** @param idempotentNow what the next attempt of a query is to be without the line; null when it is not known */
export function wordsOfLine(action: ScriptAction, idempotentNow: (query: string) => boolean | null = () => null): LineWords {
  switch (action.kind) {
    case 'say':
      return words([], 'goes on to the next caption')
    case 'produce':
      return words(['send'], action.parts.length === 1 ? `sends part ${action.parts[0]} of the orders` : 'sends the nine events, four parts')
    case 'produce-records':
      return words([], `sends ${counted(action.records.length, 'record')} to the topic`)
    case 'generate':
      return words(['generate'], action.ratePerSecond === 0 ? 'ends the generator of orders' : `generates ${counted(action.ratePerSecond, 'order')} a second`)
    case 'run':
      return wordsOfRun(action, idempotentNow(action.query))
    case 'start':
      return words(['start'], `starts ${action.query}, which goes on and on`)
    case 'stop':
      return words(['stop'], `stops ${action.query} after its batch`)
    case 'kill':
      return words(['kill'], `kills ${action.query} now, with SIGKILL`)
    case 'arm':
      return words(['arm'], `kills the next batch of ${action.query} at ${action.step}`)
    case 'step':
      return words(['step'], `lets ${action.query} go one step`)
    case 'idempotent':
      return words(['idempotent'], `idempotence of ${action.query} ${onOff(action.isOn)}`)
    case 'replay':
      return words(['replay'], `takes the newest commit of ${action.query} away`)
    case 'reset':
      return words(['reset'], `takes the checkpoint of ${action.query} away`)
    case 'drop':
      return words(['drop'], `drops what ${action.query} wrote, and its checkpoint`)
    case 'pause':
      return words(['pause'], action.isOn ? 'holds every query' : 'lets every query go on')
    case 'pace':
      return words(['slower', 'faster'], `pace ${action.pace}`)
    case 'rest':
      return words([], `waits ${action.seconds} s`)
    case 'wait':
      return words([], `waits until ${action.query} is ${action.until.replace('-', ' ')}`)
    case 'lose':
      return words([], `loses ${action.file} of the checkpoint of ${action.query}`)
    case 'expect':
      return words([], `looks at ${action.expectation.kind === 'error' ? 'the error' : subjectOf(action.expectation)}`)
  }
}

function wordsOfRun({ query, armed, idempotent, appId, sourceOptions, acceptGap }: ScriptRun, idempotentNow: boolean | null): LineWords {
  const occurrence = armed === null || armed.occurrence === 1 ? '' : `, number ${armed.occurrence}`
  const details = [
    ...(idempotent === null ? [] : [`idempotence ${onOff(idempotent)}`]),
    ...(appId === null ? [] : [`app id ${appId}`]),
    ...sourceOptions,
    ...(acceptGap ? ['the gap accepted'] : []),
  ]
  const isToggled = idempotent !== null && idempotent !== idempotentNow
  const keys: ActionName[] = [...(isToggled ? (['idempotent'] as const) : []), ...(armed === null ? [] : (['arm'] as const)), 'start']
  const does = armed === null ? `runs ${query}` : `runs ${query} and kills it at ${armed.step}${occurrence}`
  return words(keys, details.length === 0 ? does : `${does}, ${details.join(', ')}`)
}

/** The query that a line is about; null for none. @param queryOfTable who writes a table */
export function queryOfLine(action: ScriptAction, queryOfTable: (table: string) => string | null): string | null {
  if (action.kind !== 'expect') return 'query' in action ? action.query : null
  const { expectation } = action
  if (expectation.kind === 'table') return queryOfTable(expectation.table)
  return 'query' in expectation ? expectation.query : null
}

function words(names: readonly ActionName[], text: string): LineWords {
  return { keys: names.map((name) => actionNamed(name).keys[0] ?? name), text }
}

function onOff(isOn: boolean): string {
  return isOn ? 'on' : 'off'
}
