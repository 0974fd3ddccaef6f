/** What came of a matrix, as a table for 80 columns and as JSON. */
import { type Outcome, stepText } from '../matrix/deaths.js'
import type { OrdersTopic } from '../matrix/orders-topic.js'
import type { PlayedDeath } from '../matrix/play-matrix.js'
import type { VerdictName } from '../observe/status.js'
import { safeText } from '../safe-text.js'
import { textTable, wrapped } from './text-table.js'

const WIDTH = 80
const UNKNOWN = '?'

/** Where there is room, what the dead query had left stands beside what the restart made of it. */
const WIDE = 90

/**
 * A line a death, an empty one between two ways of writing; then what is not right and why, and how many there are. Ended by a line end.
 * @param columns of the terminal
 */
export function matrixText(played: readonly PlayedDeath[], columns: number): string {
  const isWide = columns >= WIDE
  const [title = '', ...lines] = textTable(
    [
      { title: '  way of writing' },
      { title: 'step' },
      ...(isWide ? [{ title: 'when dead', align: 'right' as const }] : []),
      { title: 'rows', align: 'right' },
      { title: 'distinct', align: 'right' },
      { title: 'replayed', align: 'right' },
      { title: 'verdict' },
    ],
    played.map((one) => rowOf(one, isWide)),
  )
    .trimEnd()
    .split('\n')
  const groups = lines.map((line, index) => (index > 0 && played[index]?.death.way !== played[index - 1]?.death.way ? `\n${line}` : line))
  return `${[title, ...groups].join('\n')}\n\n${played.map(problemOf).join('')}${summaryOf(played)}`
}

function rowOf({ death, found, problem }: PlayedDeath, isWide: boolean): string[] {
  const tables = found?.tables ?? []
  return [
    `${problem === null ? '✓' : '✗'} ${death.way.title}`,
    stepText(death),
    ...(isWide ? [numbers(tables.map(({ rowsWhenDead }) => rowsWhenDead))] : []),
    numbers(tables.map(({ rows }) => rows)),
    numbers(tables.map(({ distinct }) => distinct)),
    numbers([found?.replayed ?? null]),
    verdictOf(found) ?? UNKNOWN,
  ]
}

/** One number a table: `18+9`. */
function numbers(values: readonly (number | null)[]): string {
  return values.length === 0 ? UNKNOWN : values.map((value) => value ?? UNKNOWN).join('+')
}

const WORST_FIRST: readonly VerdictName[] = ['missing', 'empty', 'duplicated', 'exactly-once']

/** The worst of the tables' verdicts; null when one is not known. */
function verdictOf(found: Outcome | null): VerdictName | null {
  const verdicts = found?.tables.map(({ verdict }) => verdict) ?? []
  return verdicts.includes(null) ? null : (WORST_FIRST.find((name) => verdicts.includes(name)) ?? null)
}

function problemOf({ death, problem, workspace }: PlayedDeath): string {
  if (problem === null) return ''
  const place = workspace === null ? '' : ` (left for a look: ${workspace})`
  return wrapped(safeText(`✗ ${death.way.title} at ${stepText(death)}: ${problem}${place}`), WIDTH, '  ')
}

function summaryOf(played: readonly PlayedDeath[]): string {
  const wrong = played.filter(({ problem }) => problem !== null).length
  const deaths = played.length === 1 ? '1 death' : `${played.length} deaths`
  if (wrong > 0) return `✗ ${wrong} of ${deaths} not as the protocol says\n`
  const counted = (verdict: VerdictName) => played.filter(({ found }) => verdictOf(found) === verdict).length
  const twice = counted('duplicated')
  const why = twice === 0 ? '' : `, ${twice} duplicated: the batch was in a table that knows no batches, and ran again`
  return wrapped(`✓ ${deaths}, each as the protocol says: ${counted('exactly-once')} exactly-once${why}`, WIDTH, '  ')
}

/** Other programs read it, so the names are stable. What is not known is null. */
export function matrixJson(played: readonly PlayedDeath[], onKafka: OrdersTopic['onKafka']): object {
  return {
    format: 1,
    kafka: onKafka === null ? null : { brokers: onKafka.choice.brokers, topic: onKafka.name },
    isRight: played.every(({ problem }) => problem === null),
    deaths: played.map(({ death, expected, found, problem, workspace }) => ({
      ...{ way: death.way.name, query: death.way.query, idempotent: death.way.isIdempotent },
      ...{ step: death.step, occurrence: death.occurrence },
      ...{ isRight: problem === null, problem, workspace },
      ...{ expected, found },
    })),
  }
}
