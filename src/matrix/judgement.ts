/** Whether a death left what it must leave, and the restart made of it what it must. Pure. */
import { type Death, expectedOf, type Outcome, type TableOutcome } from './deaths.js'

/** What became of one death. */
export type Played =
  | { readonly death: Death; readonly found: Outcome; readonly problem: null }
  /** It did not go as asked: nothing was killed, or the restart failed. */
  | { readonly death: Death; readonly found: null; readonly problem: string }

export interface Judged {
  readonly death: Death
  readonly expected: Outcome
  readonly found: Outcome | null
  /** Why it is not right, in a sentence; null when it is. */
  readonly problem: string | null
}

export function judgeDeath({ death, found, problem }: Played): Judged {
  const expected = expectedOf(death)
  return { death, expected, found, problem: found === null ? problem : differenceOf(expected, found) }
}

function differenceOf(expected: Outcome, found: Outcome): string | null {
  const tables = expected.tables.map((table, index) => {
    const differences = tableDifferences(table, found.tables[index])
    return differences.length === 0 ? null : `${table.name}: ${differences.join(', ')}`
  })
  const replayed = difference('replayed', expected.replayed, found.replayed)
  const said = [...tables, replayed].filter((text) => text !== null)
  return said.length === 0 ? null : said.join('; ')
}

const MEASURES: readonly (readonly [keyof TableOutcome, string])[] = [
  ['rowsWhenDead', 'rows before the restart'],
  ['rows', 'rows'],
  ['distinct', 'distinct rows'],
  ['verdict', 'verdict'],
]

function tableDifferences(expected: TableOutcome, found: TableOutcome | undefined): string[] {
  return MEASURES.flatMap(([measure, title]) => difference(title, expected[measure], found?.[measure] ?? null) ?? [])
}

function difference(title: string, expected: string | number | null, found: string | number | null): string | null {
  return expected === found ? null : `${title} ${found ?? 'unknown'} instead of ${expected}`
}
