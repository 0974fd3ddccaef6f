/** Whether the queries that a script names are there: looked at before anything runs. */
import { nearestName } from '../engine/nearest-name.js'
import { StreamtopError } from '../errors.js'
import type { Effects } from '../effects.js'
import type { QueryDefinition } from '../engine/definition.js'
import { loadQueries } from '../queries/load-queries.js'
import type { FoundScenario } from './library.js'
import type { Scenario, ScriptAction } from './scenario.js'

/** The queries of a scenario, its own among them. @throws bad-config, also for a script that names another */
export async function queriesFor({ scenario, configFile }: FoundScenario, fx: Effects): Promise<readonly QueryDefinition[]> {
  const queries = await loadQueries(configFile, fx)
  checkQueries(
    scenario,
    queries.map(({ name }) => name),
  )
  return queries
}

/** @throws bad-config, naming file and line */
export function checkQueries({ file, script, config }: Scenario, known: readonly string[]): void {
  for (const { line, action } of script) {
    const query = queryOf(action)
    if (query === null || known.includes(query)) continue
    const nearest = nearestName(query, known)
    throw new StreamtopError('bad-config', `${file}:${line}: ${action.kind}: expected one of the queries ${known.join(', ')}, found "${query}"`, {
      hint: nearest === null ? `queries of its own stand in a file beside it: ${config ?? 'config: FILE.mjs'}` : `did you mean ${nearest}?`,
    })
  }
}

function queryOf(action: ScriptAction): string | null {
  if (action.kind === 'expect') return action.expectation.kind === 'query' || action.expectation.kind === 'checkpoint' ? action.expectation.query : null
  return 'query' in action ? action.query : null
}
