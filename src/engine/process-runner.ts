/**
 * Runs each query in a process of its own. A kill is a real SIGKILL: at a step the child sends it to itself once its report is
 * out; now, the parent sends it. A child ends by itself when its parent is gone.
 */
import { fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { StreamtopError, type ErrorCode } from '../errors.js'
import type { ErrorMessage, FromChild, ToChild } from './messages.js'
import { type Ending, type Runner, type RunningQuery, type RunRequest, settingsOf } from './runner.js'
import type { StepEvent } from './steps.js'

export interface ProcessRunnerOptions {
  /** Handed to the children, which load the queries themselves: functions do not cross. */
  readonly configFile: string | null
  /** The child's program; the one of this build unless given. */
  readonly childPath?: string
}

/** A runner that forks. */
export function processRunner(options: ProcessRunnerOptions): Runner {
  const childPath = options.childPath ?? fileURLToPath(new URL('./child.js', import.meta.url))
  return { start: (request) => start(request, childPath, options.configFile) }
}

function start(request: RunRequest, childPath: string, configFile: string | null): RunningQuery {
  // stdout is for results alone: what a user's function prints goes to stderr. A group of its own keeps a ctrl-c in the terminal
  // from stopping it in mid-batch: the parent asks it to stop.
  const child = fork(childPath, [], { stdio: ['ignore', 2, 2, 'ipc'], detached: true })
  const killAtExit = () => child.kill('SIGKILL')
  process.once('exit', killAtExit)
  const { workspace, definition, options, hasUpstream, listen } = request
  const send = (message: ToChild): void => {
    if (child.connected) child.send(message, () => {})
  }
  send({ kind: 'task', task: { parentPid: process.pid, workspace, configFile, query: definition.name, options, settings: settingsOf(request), hasUpstream } })

  let lastStep: StepEvent | null = null
  let said: Ending | null = null
  let isKilledByUs = false
  child.on('message', (message) => {
    const from = message as FromChild
    if (from.kind === 'event') {
      if (from.event.kind === 'step') lastStep = from.event.event
      listen(from.event)
    } else if (from.kind === 'ended') said = { kind: 'ended' }
    else if (from.kind === 'failed') said = { kind: 'failed', error: errorFrom(from.error) }
    else if (from.kind === 'dying' && lastStep) said = { kind: 'killed', at: lastStep }
  })
  const ending = new Promise<Ending>((resolve) => {
    child.on('error', (cause) =>
      resolve({ kind: 'failed', error: new StreamtopError('internal', `query ${definition.name} could not be started: ${cause.message}`, { cause }) }),
    )
    child.on('close', (code, signal) => {
      process.off('exit', killAtExit)
      if (signal !== null && (said === null || said.kind === 'ended')) resolve({ kind: 'died', signal })
      else if (signal !== null && said?.kind === 'killed' && isKilledByUs) resolve({ kind: 'died', signal })
      else
        resolve(
          said ?? { kind: 'failed', error: new StreamtopError('internal', `the process of query ${definition.name} ended with code ${code} and said nothing`) },
        )
    })
  })
  return {
    pid: child.pid ?? null,
    ending,
    stop: () => send({ kind: 'stop' }),
    change: (change) => send({ kind: 'change', change }),
    step: () => send({ kind: 'step' }),
    upstreamEnded: () => send({ kind: 'upstream-ended' }),
    kill: () => {
      isKilledByUs = true
      child.kill('SIGKILL')
    },
  }
}

function errorFrom(message: ErrorMessage): StreamtopError {
  const error = new StreamtopError(message.code as ErrorCode, message.message, {
    ...(message.hint === null ? {} : { hint: message.hint }),
    ...(message.condition === null ? {} : { condition: message.condition }),
  })
  if (message.stack !== null) error.stack = message.stack
  return error
}
