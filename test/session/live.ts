/** A session in a temporary folder: queries in this process, the service in this thread, unless a test wants otherwise. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { type Effects, realEffects as fx } from '../../src/effects.js'
import { inlineRunner } from '../../src/engine/inline-runner.js'
import type { OpenTopic } from '../../src/engine/open-topic.js'
import { runnerByName } from '../../src/engine/runner.js'
import type { QueryStatus } from '../../src/observe/status.js'
import { findConfig, findQuery, loadQueries } from '../../src/queries/load-queries.js'
import { openSession, type SessionOptions } from '../../src/session/live-session.js'
import { openWorkspaceService } from '../../src/session/open-workspace-service.js'
import type { Session, SessionAction } from '../../src/session/session.js'
import type { LiveQuery, LogEntry, SessionMessage, WorkspaceView } from '../../src/session/session-state.js'
import { openEmbeddedTopic } from '../../src/topic/embedded-topic.js'

/** Sooner than the test's own, so that what was not so is said; no sooner, for the machine may be busy. */
const DEADLINE_MS = 50_000

export interface LiveTest {
  readonly folder: string
  readonly session: Session
  readonly messages: SessionMessage[]
  view(): WorkspaceView | null
  query(name: string): LiveQuery
  /** As the newest look saw it that had the time to count all rows. */
  status(name: string): QueryStatus | undefined
  log(): readonly LogEntry[]
  /** The texts that somebody logged. */
  said(who: string): readonly string[]
  /** Waits until something is so; looked at with each message. Fails at a deadline. */
  until(what: string, isSo: () => boolean): Promise<void>
  /** Performs an action. */
  do(action: SessionAction, by?: string): Promise<string>
}

/** A temporary folder, removed when the test ends. */
export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'streamtop-session-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }))
  return folder
}

/**
 * Opens a session that is closed when the test ends. It runs at full speed unless asked otherwise.
 * @param effects of the session; those of its queries are real
 */
export async function openLive(
  folder: string,
  options: Partial<SessionOptions> = {},
  service = openWorkspaceService(fx),
  openTopic: OpenTopic = openEmbeddedTopic,
  effects: Effects = fx,
): Promise<LiveTest> {
  const queries = await loadQueries(findConfig(folder, fx), fx)
  const runner = runnerByName(inlineRunner(openTopic, fx), (name) => findQuery(queries, name))
  const session = await openSession(
    { workspace: folder, configFile: null, adopt: false, isReadOnly: false, pace: 'full', ...options },
    service,
    () => runner,
    effects,
  )
  return watched(session, folder)
}

/** Hears everything that a session tells. @param deadlineMs how long something is waited for */
export function watched(session: Session, folder: string, deadlineMs = DEADLINE_MS): LiveTest {
  onTestFinished(() => session.close())
  const messages: SessionMessage[] = []
  const watchers = new Set<() => void>()
  let view: WorkspaceView | null = null
  let counted: WorkspaceView | null = null
  session.subscribe((message) => {
    messages.push(message)
    if (message.kind === 'view') view = message.view
    if (message.kind === 'view' && message.view.isCounted !== false) counted = message.view
    for (const watcher of watchers) watcher()
  })
  const log = () => messages.flatMap((message) => (message.kind === 'log' ? [message.entry] : []))
  const live: LiveTest = {
    folder,
    session,
    messages,
    view: () => view,
    query: (name) => session.state.queries.find(({ info }) => info.name === name) as LiveQuery,
    status: (name) => counted?.status.queries.find((query) => query.name === name),
    log,
    said: (who) => log().flatMap((entry) => (entry.who === who ? [entry.text] : [])),
    until: (what, isSo) =>
      new Promise((resolve, reject) => {
        const end = (settle: () => void) => {
          watchers.delete(watcher)
          clearTimeout(deadline)
          settle()
        }
        const watcher = () => {
          if (isSo()) end(resolve)
        }
        const told = () => `${what}: not within ${deadlineMs / 1_000} s\n${JSON.stringify(log().slice(-12), null, 1)}`
        const deadline = setTimeout(() => end(() => reject(new Error(told()))), deadlineMs)
        watchers.add(watcher)
        watcher()
      }),
    do: (action, by = 'test') => session.perform(action, by),
  }
  return live
}

/** A first start whose nine events are in every table, with nothing under way and no generator. */
export async function openCaughtUp(options: Partial<SessionOptions> = {}, service = openWorkspaceService(fx)): Promise<LiveTest> {
  const live = await openLive(temporaryFolder(), { ratePerSecond: 0, ...options }, service)
  await untilCaughtUp(live)
  return live
}

/** Every record of the topic, at least the nine events, is in a committed batch of every query, and on a busy machine too its rows are counted. */
export async function untilCaughtUp(live: LiveTest): Promise<void> {
  await live.until('every query caught up', () => {
    const { isCounted, status } = live.view() ?? { status: { topics: [], queries: [] } }
    const { topics, queries } = status
    const isSent = Number(topics[0]?.endOffsets['0'] ?? 0) >= 9
    return isCounted !== false && isSent && queries.every(({ lag, offsets, commits }) => lag === 0 && offsets.length > 0 && offsets[0] === commits[0])
  })
}
