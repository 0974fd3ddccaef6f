/**
 * One death in a workspace of its own: the query's process kills itself with a real SIGKILL at the step, another process runs the query
 * again, and `observe` says what lies on disk before and after that.
 */
import type { Effects } from '../effects.js'
import type { QueryDefinition } from '../engine/definition.js'
import { inlineRunner } from '../engine/inline-runner.js'
import { onTopic } from '../engine/open-topic.js'
import type { Ending, NamedQuery, Runner, RunRequest } from '../engine/runner.js'
import { StreamtopError } from '../errors.js'
import { Observer } from '../observe/observe.js'
import type { QueryStatus } from '../observe/status.js'
import { bronzeOrders } from '../queries/bronze-orders.js'
import { findQuery } from '../queries/load-queries.js'
import { openEmbeddedTopic } from '../topic/embedded-topic.js'
import { type Death, type Outcome, stepText } from './deaths.js'
import type { Played } from './judgement.js'
import type { OrdersTopic } from './orders-topic.js'

/** What all deaths share. */
export interface Stage {
  readonly queries: readonly QueryDefinition[]
  readonly topic: OrdersTopic
  /** Runs those of `queries` that the way of writing needs. */
  readonly runner: Runner<NamedQuery>
  /** Ends a death at once: what runs is killed. */
  readonly signal: AbortSignal
}

/**
 * @param workspace a folder that is not there yet
 * @throws an AbortError when the signal fires; what else goes wrong is the death's `problem`
 */
export async function playDeath(death: Death, workspace: string, stage: Stage, fx: Effects): Promise<Played> {
  try {
    return { death, found: await outcomeOf(death, workspace, stage, fx), problem: null }
  } catch (error) {
    stage.signal.throwIfAborted()
    return { death, found: null, problem: error instanceof Error ? error.message : String(error) }
  }
}

async function outcomeOf(death: Death, workspace: string, stage: Stage, fx: Effects): Promise<Outcome> {
  const { way, step, occurrence } = death
  const definition = onTopic(findQuery(stage.queries, way.query), stage.topic.onKafka?.name ?? null)
  await stage.topic.fill(workspace)
  if (definition.source.kind === 'table') await fillBronze(workspace, fx)

  const request = requestOf(workspace, definition, way.isIdempotent)
  const killed = await live(stage.runner, { ...request, armed: { step, occurrence } }, stage.signal)
  if (killed.kind !== 'killed') throw unexpected(killed, `never reached ${stepText(death)}`)
  const whenDead = await look(workspace, definition, way.tables, stage.topic, fx)

  const again = await live(stage.runner, request, stage.signal)
  if (again.kind !== 'ended') throw unexpected(again, 'did not come to its end')
  const after = await look(workspace, definition, way.tables, stage.topic, fx)
  const tables = after.map(({ rows, distinct, verdict }, index) => ({
    ...{ name: way.tables[index] ?? '', rowsWhenDead: whenDead[index]?.rows ?? null },
    ...{ rows, distinct, verdict },
  }))
  return { tables, replayed: after[0]?.replays ?? null }
}

/** What the queries read that are killed here: no death is tried while it is made. */
async function fillBronze(workspace: string, fx: Effects): Promise<void> {
  const ending = await inlineRunner(openEmbeddedTopic, fx).start(requestOf(workspace, bronzeOrders, true)).ending
  if (ending.kind === 'failed') throw ending.error
}

function requestOf(workspace: string, definition: QueryDefinition, idempotent: boolean): RunRequest {
  return {
    ...{ workspace, definition, idempotent },
    options: { sourceOptions: [], appId: null, intervalMs: null, acceptGap: false },
    ...{ armed: null, dwellMs: 0, hasUpstream: false, listen: () => {} },
  }
}

/** One life of a query, from its start to its end. */
async function live(runner: Runner<NamedQuery>, request: RunRequest, signal: AbortSignal): Promise<Ending> {
  signal.throwIfAborted()
  const running = runner.start(request)
  signal.addEventListener('abort', running.kill)
  try {
    return await running.ending
  } finally {
    signal.removeEventListener('abort', running.kill)
  }
}

function unexpected(ending: Ending, otherwise: string): Error {
  if (ending.kind === 'failed') return ending.error
  return new StreamtopError('step-not-reached', ending.kind === 'died' ? `its process was killed by ${ending.signal}, which nobody asked for` : otherwise)
}

/** The query as `status` has it, once against each table that it writes. */
function look(workspace: string, definition: QueryDefinition, tables: readonly string[], topic: OrdersTopic, fx: Effects): Promise<QueryStatus[]> {
  const { elsewhere } = topic
  return Promise.all(
    tables.map(async (table) => {
      const observer = new Observer(workspace, [{ ...definition, table }], fx, elsewhere === null ? {} : { topicsElsewhere: async () => elsewhere })
      const { queries } = await observer.observe()
      return findQueryStatus(queries, definition.name)
    }),
  )
}

function findQueryStatus(queries: readonly QueryStatus[], name: string): QueryStatus {
  const found = queries.find((query) => query.name === name)
  if (found === undefined) throw new StreamtopError('internal', `the status has no query ${name}`)
  return found
}
