/** Which query is selected: always one that is listed, by name, so that it stays while the list changes. Pure. */
import type { LiveQuery } from '../session/session-state.js'
import { queryPassesFilter } from './filter.js'
import type { Model } from './model.js'

/**
 * The queries that are listed, in their order: those that the filter lets through. A filter that lets none through is about something
 * else (the log, rows): then all are listed.
 */
export function shownQueries({ state, filter }: Pick<Model, 'state' | 'filter'>): readonly LiveQuery[] {
  const queries = state?.queries ?? []
  const shown = queries.filter((query) => queryPassesFilter(filter, query))
  return shown.length === 0 ? queries : shown
}

/** The query so many places further among those that are listed; with 0 the selected one if it is still listed, else the first. */
export function selectShown(model: Model, places: number): Model {
  const shown = shownQueries(model)
  const at = shown.findIndex(({ info }) => info.name === model.selected)
  const query = at === -1 ? preferred(shown, model.filter !== '') : shown[Math.min(shown.length - 1, Math.max(0, at + places))]
  const selected = query?.info.name ?? null
  return selected === model.selected ? model : { ...model, selected }
}

/** To begin with, the query that a kill makes write twice: that is what there is to see. */
function preferred(queries: readonly LiveQuery[], isFiltered: boolean): LiveQuery | undefined {
  const vulnerable = queries.find(({ info }) => info.mode === 'foreachBatch' && !info.idempotentByDefault)
  return isFiltered ? queries[0] : (vulnerable ?? queries[0])
}
