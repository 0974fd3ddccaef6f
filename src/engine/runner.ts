/** A runner runs queries and decides what happens at each step. Both runners give back the same handle. */
import type { ArmedStep, ControlSettings } from './control.js'
import type { QueryDefinition } from './definition.js'
import type { EventListener } from './events.js'
import type { RunOptions } from './run-options.js'
import type { StepEvent } from './steps.js'

/** The least that a runner must know of a query: the process runner's child loads the rest itself. */
export interface NamedQuery {
  readonly name: string
}

export interface RunRequest<Query extends NamedQuery = QueryDefinition> {
  readonly workspace: string
  readonly definition: Query
  readonly options: RunOptions
  /** Null: the query's default. */
  readonly idempotent: boolean | null
  readonly armed: ArmedStep | null
  readonly dwellMs: number
  /** Whether each step is held until it is let go; not held unless given. */
  readonly isHeld?: boolean
  /** Whether a query that writes the source runs beside it: then it goes on until `upstreamEnded`. */
  readonly hasUpstream: boolean
  readonly listen: EventListener
  /** Told each line that the query's own code prints; without it they go to stderr. Only a query in a process of its own can be heard. */
  readonly onOutput?: (line: string) => void
}

/** How a life ended. */
export type Ending =
  /** Caught up, or asked to stop. */
  | { readonly kind: 'ended' }
  /** Died at the step that was armed. */
  | { readonly kind: 'killed'; readonly at: StepEvent }
  /** Died by a signal that no armed step sent. */
  | { readonly kind: 'died'; readonly signal: string }
  | { readonly kind: 'failed'; readonly error: Error }

export interface RunningQuery {
  /** Of the process that runs it. */
  readonly pid: number | null
  readonly ending: Promise<Ending>
  /** Asks it to stop after the batch that it is in. */
  stop(): void
  /** Changes how it is run; what is not named stays. */
  change(change: Partial<ControlSettings>): void
  /** Lets it go on to its next step, when it is held. */
  step(): void
  upstreamEnded(): void
  /** Kills it now. */
  kill(): void
}

export interface Runner<Query extends NamedQuery = QueryDefinition> {
  start(request: RunRequest<Query>): RunningQuery
}

/** A runner that needs whole definitions, for somebody who has only names. */
export function runnerByName(runner: Runner, definitionOf: (name: string) => QueryDefinition): Runner<NamedQuery> {
  return { start: (request) => runner.start({ ...request, definition: definitionOf(request.definition.name) }) }
}

/** How a request wants its query run at first. */
export function settingsOf({ idempotent, armed, dwellMs, isHeld = false, options }: RunRequest<NamedQuery>): ControlSettings {
  return { idempotent, armed, dwellMs, isHeld, intervalMs: options.intervalMs }
}
