/** What a benchmark gives back: figures, each beside its floor and its budget. */
import type { KafkaChoice } from '../src/topic/kafka-choice.js'

export interface Figure {
  /** What was done, in a few words. */
  readonly what: string
  readonly value: number
  readonly unit: string
  /** What the machine needs for the least of it, measured in the same run; null where there is no such thing. */
  readonly floor: { readonly what: string; readonly value: number; readonly unit: string } | null
  /** How many floors it took: above 1 is slower than the floor, for times and for rates. */
  readonly ratio: number | null
  /** As DESIGN words it; null for a figure that is only told. */
  readonly budget: string | null
  readonly isMet: boolean | null
}

export interface BenchContext {
  readonly isQuick: boolean
  /** Also what takes ten minutes. */
  readonly isLong: boolean
  /** The broker of `--kafka`; null when none is there. */
  readonly kafka: KafkaChoice | null
  /** Progress, on stderr. */
  say(text: string): void
  /** A new empty folder on the disk that is measured; removed at the end. */
  folder(): string
}

export interface Bench {
  readonly name: string
  run(context: BenchContext): Promise<readonly Figure[]>
}

/** The value below which this part of the sorted values lies. */
export function quantile(values: ArrayLike<number>, part: number): number {
  const sorted = Float64Array.from(values).sort()
  if (sorted.length === 0) return Number.NaN
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] as number
}

export function median(values: ArrayLike<number>): number {
  return quantile(values, 0.5)
}

/** A time, or a rate, against its floor and a budget in floors. */
export function againstFloor(
  what: string,
  measured: { readonly value: number; readonly unit: string },
  floor: { readonly what: string; readonly value: number },
  mostFloors: number | null,
): Figure {
  const isRate = measured.unit.endsWith('/s')
  const ratio = isRate ? floor.value / measured.value : measured.value / floor.value
  return {
    what,
    ...measured,
    floor: { ...floor, unit: measured.unit },
    ratio,
    budget: mostFloors === null ? null : `≤ ${mostFloors} × floor`,
    isMet: mostFloors === null ? null : ratio <= mostFloors,
  }
}

/** The same figure with a budget on its value; `floor` still says what it is made of. */
export function withBudget(figure: Figure, limit: { readonly atMost: number } | { readonly atLeast: number }): Figure {
  const isMet = 'atMost' in limit ? figure.value <= limit.atMost : figure.value >= limit.atLeast
  const text = 'atMost' in limit ? `≤ ${limit.atMost.toLocaleString('en-US')}` : `≥ ${limit.atLeast.toLocaleString('en-US')}`
  return { ...figure, budget: `${text} ${figure.unit}`, isMet }
}

/** A figure without a floor. */
export function plain(what: string, value: number, unit: string): Figure {
  return { what, value, unit, floor: null, ratio: null, budget: null, isMet: null }
}
