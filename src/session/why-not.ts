/** Why an action cannot be done now, each reason a sentence; null when it is none. */
import type { LiveQuery, SessionState, WorkspaceView } from './session-state.js'

/** What an action is judged by. */
export interface ActionContext {
  readonly state: SessionState
  readonly view: WorkspaceView | null
  /** The selected one, or the one that was named. */
  readonly query: LiveQuery | null
}

/** Why nothing in the workspace can be changed from here. */
export function notOwner({ state }: ActionContext): string | null {
  if (state.access === 'foreign') return 'this workspace was made by another tool, most likely Spark, and is only read; --adopt takes it over'
  if (state.access === 'read-only') return 'this dashboard was started with --read-only'
  if (state.access !== 'viewer') return null
  if (state.hasHolderEnded) return `process ${state.holderPid} has ended: start streamtop again to run the queries`
  return `the queries are held by process ${state.holderPid}: do it there`
}

/** Why nothing can be done to the query. */
export function notOurs(context: ActionContext): string | null {
  const { query } = context
  const whyNot = notOwner(context)
  if (whyNot !== null) return whyNot
  const holder = query && query.process === 'none' ? query.heldByPid : null
  return holder === null || query === null ? null : `${query.info.name} is run by process ${holder}: do it there, or stop that first`
}

export function notKnown({ query }: ActionContext): string | null {
  if (query === null) return 'no query is selected'
  return query.info.mode === null ? `${query.info.name} is a checkpoint whose query is not known here: it can only be looked at` : null
}

export function notRunning(context: ActionContext, what: string): string | null {
  const unknown = notKnown(context)
  if (unknown) return unknown
  return hasProcess(context) ? null : `${nameOf(context)} is not running: ${what}`
}

export function nothingToReplay(context: ActionContext): string | null {
  const status = statusOf(context)
  if (hasProcess(context)) return status && status.batchId === null ? `${nameOf(context)} has no batch yet` : null
  if (status && status.batchId === null) return `${nameOf(context)} has no batch yet`
  if (status && status.step !== null && status.step !== 'batch-committed')
    return `batch ${status.batchId} of ${nameOf(context)} has no commit: it runs again anyway, press s`
  return null
}

export function runsAlready(context: ActionContext): string | null {
  return hasProcess(context) ? `${nameOf(context)} is running` : null
}

export function nothingToReset(context: ActionContext): string | null {
  const status = statusOf(context)
  // One whose metadata was lost has no id, and is there.
  return status !== null && status.id === null && status.offsets.length === 0 ? `${nameOf(context)} has no checkpoint yet` : null
}

export function noTable({ query }: ActionContext): string | null {
  if (query === null) return 'no query is selected'
  return query.info.table === null ? `it is not known which table ${query.info.name} writes` : null
}

function hasProcess({ query }: ActionContext): boolean {
  return query !== null && query.process !== 'none'
}

function nameOf({ query }: ActionContext): string {
  return query?.info.name ?? 'it'
}

function statusOf({ view, query }: ActionContext) {
  return view?.status.queries.find(({ name }) => name === query?.info.name) ?? null
}
