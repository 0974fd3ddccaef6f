/** A query in a process of its own, as `streamtop run` starts it, with what its benchmark wants to know of it. */
import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { QueryDefinition } from '../src/engine/definition.js'
import { processRunner } from '../src/engine/process-runner.js'
import type { QueryEvent } from '../src/engine/events.js'
import type { RunningQuery } from '../src/engine/runner.js'
import type { KafkaChoice } from '../src/topic/kafka-choice.js'

export interface ProcessChoices {
  readonly sourceOptions?: readonly string[]
  /** Null: until it is caught up. */
  readonly intervalMs?: number | null
  readonly kafka?: KafkaChoice | null
  /** Read instead of topic orders. */
  readonly topic?: string | null
  readonly listen: (event: QueryEvent, nowMs: number) => void
}

/** The command and a query's program as they are shipped. */
export const CLI = fileURLToPath(new URL('../../dist/cli.js', import.meta.url))
const CHILD = fileURLToPath(new URL('../../dist/child.js', import.meta.url))

export function startProcess(workspace: string, definition: QueryDefinition, choices: ProcessChoices): RunningQuery {
  const { kafka = null, topic = null } = choices
  return processRunner({ configFile: null, childPath: CHILD, kafka, topic }).start({
    workspace,
    definition,
    options: { sourceOptions: choices.sourceOptions ?? [], appId: null, intervalMs: choices.intervalMs ?? null, acceptGap: false },
    idempotent: null,
    armed: null,
    dwellMs: 0,
    hasUpstream: false,
    listen: (event) => choices.listen(event, performance.now()),
  })
}

/** Waits for a query that should end by itself. */
export async function ended(running: RunningQuery): Promise<void> {
  const ending = await running.ending
  if (ending.kind === 'failed') throw ending.error
  if (ending.kind !== 'ended') throw new Error(`the query did not end but was ${ending.kind}`)
}

/** Of a live process, from /proc: megabytes now and at most, and how many files it has open; null where there is no /proc. */
export function processFacts(pid: number | null): { readonly residentMb: number; readonly peakMb: number; readonly handles: number } | null {
  try {
    const status = readFileSync(`/proc/${pid}/status`, 'utf8')
    const megabytes = (name: string) => Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(status)?.[1]) / 1_000
    return { residentMb: megabytes('VmRSS'), peakMb: megabytes('VmHWM'), handles: readdirSync(`/proc/${pid}/fd`).length }
  } catch {
    return null
  }
}
