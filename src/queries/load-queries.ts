/**
 * The queries of a workspace: the three that come with streamtop and those of its configuration file, of which one with the
 * name of a built-in one replaces it.
 */
import { register } from 'node:module'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Effects } from '../effects.js'
import type { QueryDefinition } from '../engine/definition.js'
import { nearestName } from '../engine/nearest-name.js'
import { StreamtopError } from '../errors.js'
import { BUILT_IN_QUERIES } from './built-in.js'

const CONFIG_NAMES = ['streamtop.config.mjs', 'streamtop.config.js']

/** The configuration file of a workspace, or null when there is none. */
export function findConfig(workspace: string, fx: Effects): string | null {
  return CONFIG_NAMES.map((name) => join(workspace, name)).find((path) => fx.files.exists(path)) ?? null
}

/**
 * Loads the queries.
 * @param configFile absolute path; null for none
 * @throws bad-config when the file is missing, throws, or does not export a list of queries
 */
export async function loadQueries(configFile: string | null, fx: Effects): Promise<readonly QueryDefinition[]> {
  if (configFile === null) return BUILT_IN_QUERIES
  if (!fx.files.exists(configFile)) throw new StreamtopError('bad-config', `there is no configuration file ${configFile}`)
  const own = checked(await load(configFile), configFile)
  const names = new Set(own.map((query) => query.name))
  return [...BUILT_IN_QUERIES.filter((query) => !names.has(query.name)), ...own]
}

/** One of the queries by name. @throws unknown-query with the nearest name */
export function findQuery(queries: readonly QueryDefinition[], name: string): QueryDefinition {
  const found = queries.find((query) => query.name === name)
  if (found) return found
  const names = queries.map((query) => query.name)
  const nearest = nearestName(name, names)
  throw new StreamtopError('unknown-query', `there is no query ${name}`, {
    hint: `${nearest ? `did you mean ${nearest}? ` : ''}The queries are ${names.join(', ')}; own ones go into streamtop.config.mjs`,
  })
}

async function load(configFile: string): Promise<unknown> {
  resolveOwnName()
  try {
    const module = (await import(pathToFileURL(configFile).href)) as { default?: unknown }
    return module.default
  } catch (cause) {
    if (cause instanceof StreamtopError) throw cause
    throw new StreamtopError('bad-config', `${configFile} could not be loaded: ${(cause as Error)?.message ?? String(cause)}`, { cause })
  }
}

let isResolved = false

/** A workspace has no node_modules: there `import 'streamtop'` means the streamtop that is running. */
function resolveOwnName(): void {
  if (isResolved) return
  isResolved = true
  const own = JSON.stringify(new URL('./index.js', import.meta.url).href)
  const hook = `export const resolve = (name, context, next) => name === 'streamtop' ? { url: ${own}, shortCircuit: true } : next(name, context)`
  register(`data:text/javascript,${encodeURIComponent(hook)}`)
}

function checked(value: unknown, configFile: string): QueryDefinition[] {
  const list = Array.isArray(value) ? value : [value]
  const names = new Set<string>()
  for (const entry of list as unknown[]) {
    if (!isQuery(entry)) {
      throw new StreamtopError('bad-config', `${configFile} must export a list of queries as its default`, {
        hint: "export default [query('name', table('source'), append('sink'))]",
      })
    }
    if (names.has(entry.name)) throw new StreamtopError('bad-config', `${configFile} has two queries named ${entry.name}`)
    names.add(entry.name)
  }
  return list as QueryDefinition[]
}

/** Whether `query` made it: one that is made by hand lacks what everybody goes by. */
function isQuery(entry: unknown): entry is QueryDefinition {
  const { name, source, sink, writes } = (entry ?? {}) as { readonly [Member in keyof QueryDefinition]?: QueryDefinition[Member] | null }
  return typeof name === 'string' && Array.isArray(source?.filters) && typeof sink?.kind === 'string' && Array.isArray(writes)
}
