/**
 * Runs each query in a process of its own. A kill is a real SIGKILL: at a step the child sends it to itself once its report is
 * out; now, the parent sends it. A child ends by itself when its parent is gone.
 */
import { type ChildProcess, fork } from 'node:child_process'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { type Effects, realEffects } from '../effects.js'
import { StreamtopError } from '../errors.js'
import type { KafkaChoice } from '../topic/kafka-choice.js'
import { errorFrom, type FromChild, type ToChild } from './messages.js'
import { type Ending, type NamedQuery, type Runner, type RunningQuery, type RunRequest, settingsOf } from './runner.js'
import type { StepEvent } from './steps.js'

export interface ProcessRunnerOptions {
  /** Handed to the children, which load the queries themselves: functions do not cross. Null for the built-in queries alone. */
  readonly configFile?: string | null
  /** The child's program; the one of this build unless given. */
  readonly childPath?: string
  /** Where topics are; in the workspace unless given. */
  readonly kafka?: KafkaChoice | null
  /** Read instead of topic orders. */
  readonly topic?: string | null
}

/** A runner that forks. Of a query it needs the name alone. */
export function processRunner(options: ProcessRunnerOptions = {}, fx: Effects = realEffects): Runner<NamedQuery> {
  const childPath = options.childPath ?? fileURLToPath(new URL('./child.js', import.meta.url))
  return { start: (request) => start(request, childPath, options, fx) }
}

function start(
  request: RunRequest<NamedQuery>,
  childPath: string,
  { configFile = null, kafka = null, topic = null }: ProcessRunnerOptions,
  fx: Effects,
): RunningQuery {
  const { workspace, definition, options, hasUpstream, listen, onOutput } = request
  // stdout is for results alone: what a user's function prints goes to stderr, or to who wants to hear it. A group of its own keeps
  // a ctrl-c in the terminal from stopping it in mid-batch: the parent asks it to stop.
  const printed = onOutput ? 'pipe' : 2
  const child = fork(childPath, [], { stdio: ['ignore', printed, printed, 'ipc'], detached: true })
  if (onOutput) hear(child, onOutput, fx)
  killAtExit(child)
  const send = (message: ToChild): void => {
    if (child.connected) child.send(message, () => {})
  }
  const settings = settingsOf(request)
  send({ kind: 'task', task: { parentPid: process.pid, workspace, configFile, query: definition.name, options, settings, hasUpstream, kafka, topic } })

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
      forget(child)
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

/** Whatever still runs when this process ends goes with it. */
const alive = new Set<ChildProcess>()

/** One listener for all: Node warns, on the user's terminal, of more than ten. */
function killAtExit(child: ChildProcess): void {
  if (alive.size === 0) process.on('exit', killAll)
  alive.add(child)
}

function forget(child: ChildProcess): void {
  if (alive.delete(child) && alive.size === 0) process.off('exit', killAll)
}

function killAll(): void {
  for (const child of alive) child.kill('SIGKILL')
}

/** Hands on what a child prints, line by line. What the child has started may hold its pipes open, so they are let go when it has ended. */
function hear(child: ChildProcess, onOutput: (line: string) => void, fx: Effects): void {
  for (const pipe of [child.stdout, child.stderr]) {
    if (pipe === null) continue
    createInterface({ input: pipe, crlfDelay: Number.POSITIVE_INFINITY }).on('line', onOutput)
    child.on('exit', () => void fx.sleep(LAST_WORDS_MS).then(() => pipe.destroy()))
  }
}

/** For what stands in a pipe when its writer has ended. */
const LAST_WORDS_MS = 250
