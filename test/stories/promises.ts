/** What the checker is told of a story: what was sent and run in it, and how each run ended, says what must hold there. */
import type { QueryDefinition } from '../../src/engine/definition.js'
import type { Ending } from '../../src/engine/runner.js'
import type { Promised, QueryPromise } from '../checker.mjs'
import { SENT_BY_PART } from '../nine-events.js'

/** Something that was done in a workspace. */
export type Deed =
  | { readonly kind: 'sent'; readonly part: number }
  | { readonly kind: 'ran'; readonly definition: QueryDefinition; readonly isIdempotent: boolean; readonly ending: Ending['kind'] }
  /** The store was opened, which heals. */
  | { readonly kind: 'opened' }

/** By the name of a query: what its runs alone do not say. */
export type FurtherPromises = Readonly<Record<string, Partial<QueryPromise>>>

/** @param deeds in their order */
export function promisesOf(deeds: readonly Deed[], further: FurtherPromises = {}): Promised {
  const sent = deeds.flatMap((deed) => (deed.kind === 'sent' ? (SENT_BY_PART[deed.part - 1] ?? []) : []))
  const definitions = new Map(deeds.flatMap((deed) => (deed.kind === 'ran' ? [[deed.definition.name, deed.definition]] : [])))
  const queries = [...definitions.values()].map((definition) => ({ ...promiseOf(definition, deeds), ...further[definition.name] }))
  return sent.length > 0 ? { topic: 'orders', sent, queries } : { queries }
}

function promiseOf(definition: QueryDefinition, deeds: readonly Deed[]): QueryPromise {
  const { name, source, table } = definition
  const runs = deeds.flatMap((deed) => (deed.kind === 'ran' && deed.definition.name === name ? [deed] : []))
  const newest = runs.at(-1)
  const later = newest ? deeds.slice(deeds.indexOf(newest) + 1) : []
  const exactlyOnce = runs.every(({ isIdempotent }) => isIdempotent)
  return {
    name,
    source: source.kind === 'topic' ? { topic: source.name } : { table: source.name },
    table,
    holds: holdsOf(definition, exactlyOnce),
    exactlyOnce,
    caughtUp: newest?.ending === 'ended' && !later.some((deed) => growsSource(definition, deed)),
    isUnhealed: newest?.ending === 'killed' && later.every(({ kind }) => kind === 'sent'),
  }
}

/** Plain inserts of the newest rows are no fold of the input. */
function holdsOf({ holds }: QueryDefinition, exactlyOnce: boolean): QueryPromise['holds'] {
  if (typeof holds === 'string') return holds
  return exactlyOnce ? 'newest-of-each-order' : 'unknown'
}

function growsSource({ source }: QueryDefinition, deed: Deed): boolean {
  if (source.kind === 'topic') return deed.kind === 'sent'
  return deed.kind === 'ran' && deed.definition.writes.includes(source.name)
}
