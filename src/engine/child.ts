/**
 * The program of a query's process: waits for its task, lives one life, and ends. It reports over IPC, and ends within a second
 * when the channel closes, which is when its parent is gone.
 */
import { onFailedSync, realEffects as fx } from '../effects.js'
import { StreamtopError } from '../errors.js'
import { findQuery, loadQueries } from '../queries/load-queries.js'
import { Control } from './control.js'
import { beginLife, errorJson, type Life } from './life.js'
import type { ChildTask, FromChild, ToChild } from './messages.js'
import { onTopic, topicOpener } from './open-topic.js'
import { watchParent } from './parent-watchdog.js'

const stop = new AbortController()
const upstream = new AbortController()
let control: Control | null = null
let life: Life | null = null
let isFinished = false
/** The query, where its code may be the user's. */
let ownQuery: string | null = null

// The parent decides when to stop; a ctrl-c reaches the whole terminal.
for (const signal of ['SIGINT', 'SIGHUP'] as const) process.on(signal, () => {})
process.on('SIGTERM', () => stop.abort())
process.on('disconnect', () => leave())
// Small enough to be on its way when the call returns.
onFailedSync((error) => tell({ kind: 'failed', error: errorJson(error) }))
// What a user's function throws outside of its promise, and a promise that nobody waits for.
process.on('uncaughtException', (error) => void fail(error))
process.on('message', (message: ToChild) => {
  if (message.kind === 'task') void live(message.task)
  else if (message.kind === 'stop') stop.abort()
  else if (message.kind === 'upstream-ended') upstream.abort()
  else if (message.kind === 'change') control?.change(message.change)
  else if (message.kind === 'step') control?.step()
})

async function live(task: ChildTask): Promise<void> {
  try {
    if (task.hasUpstream === false) upstream.abort()
    control = new Control(task.settings, upstream.signal, stop.signal)
    if (task.configFile !== null) {
      ownQuery = task.query
      await watchParent(task.parentPid)
    }
    const definition = onTopic(findQuery(await loadQueries(task.configFile, fx), task.query), task.topic)
    life = await beginLife(
      {
        parentPid: task.parentPid,
        workspace: task.workspace,
        definition,
        options: task.options,
        control,
        stop: stop.signal,
        listen: (event) => tell({ kind: 'event', event }),
        die,
        openTopic: await topicOpener(task.kafka, fx),
      },
      fx,
    )
    await life.run()
    await finish({ kind: 'ended' })
  } catch (error) {
    await finish({ kind: 'failed', error: errorJson(error) })
  }
}

/** An error that no part of the life can catch is its end. */
async function fail(error: unknown): Promise<void> {
  // Without a parent nobody hears of it, and that its output is closed is no failure of the query.
  if (!process.connected) return leave()
  if (isFinished) return
  const said = ownQuery === null ? error : thrownOutside(ownQuery, error)
  try {
    life?.fail(said)
  } finally {
    await finish({ kind: 'failed', error: errorJson(said) })
  }
}

function thrownOutside(query: string, cause: unknown): StreamtopError {
  const message = cause instanceof Error ? cause.message : String(cause)
  return new StreamtopError('foreach-batch-failed', `code of ${query} threw where nothing caught it: ${message}`, {
    hint: 'await what a function begins, and catch what its timers and listeners throw',
    cause,
  })
}

/** Says how it ended, and ends. What comes to an end after that, because its handles are closed, is not said. */
async function finish(ending: FromChild): Promise<void> {
  if (isFinished) return
  isFinished = true
  await tellAll(ending)
  // What is still open (a user's timer, a socket) must not keep a query alive that has ended.
  process.exit(0)
}

/** A real SIGKILL of itself, once the parent has been told. */
async function die(): Promise<never> {
  await tellAll({ kind: 'dying' })
  fx.kill(process.pid, 'SIGKILL')
  return new Promise<never>(() => {})
}

function tell(message: FromChild): void {
  if (process.connected) process.send?.(message, () => {})
}

function tellAll(message: FromChild): Promise<void> {
  return new Promise((resolve) => {
    if (!process.connected) resolve()
    else process.send?.(message, () => resolve())
  })
}

/** Without a parent: stop after the batch if that is soon, else die where it is. The next run takes either. */
function leave(): void {
  stop.abort()
  void fx.sleep(500).then(() => fx.kill(process.pid, 'SIGKILL'))
}
