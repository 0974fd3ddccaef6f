/** What `run` does: starts the queries, waits for their endings, and says what came out. */
import type { Ending, RunningQuery } from '../engine/runner.js'
import { processRunner } from '../engine/process-runner.js'
import { asStreamtopError, StreamtopError } from '../errors.js'
import type { QueryDefinition } from '../engine/definition.js'
import type { QueryEvent } from '../engine/events.js'
import { onTopic } from '../engine/open-topic.js'
import { findConfig, findQuery, loadQueries } from '../queries/load-queries.js'
import { checkWorkspace } from '../engine/workspace.js'
import { safeJson, safeText } from '../safe-text.js'
import { deathSentence } from './death-sentence.js'
import type { QueryReport } from './query-report.js'
import type { RunVerbOptions } from './run.js'
import type { Context } from './verb.js'

/** One query while it runs. */
interface Started {
  readonly definition: QueryDefinition
  readonly running: RunningQuery
}

interface Ended {
  readonly definition: QueryDefinition
  readonly ending: Ending
}

/**
 * Runs the queries that the command line names.
 * @returns 0 when all ended as asked, 1 when one failed, died or never reached its armed step
 */
export async function runQueries(context: Context<RunVerbOptions>): Promise<number> {
  const { workspace, options, signal, fx } = context
  const configFile = context.configFile ?? findConfig(workspace, fx)
  const queries = await loadQueries(configFile, fx)
  const definitions = [...new Set(context.arguments)].map((name) => findQuery(queries, name))
  const armed = options.crash ? { step: 'table-committed' as const, occurrence: 1 } : (options.crashAt ?? null)
  if (armed && definitions.length > 1) {
    throw new StreamtopError('usage', '--crash and --crash-at kill one query, and several are named', { hint: 'run the others in another terminal' })
  }
  if (options.interval === undefined) checkSomeoneEnds(definitions)
  checkWorkspace(workspace, definitions, { adopt: context.adopt, acceptGap: options.acceptGap ?? false, kafka: context.kafka !== null }, fx)
  if (context.adopt && context.kafka !== null) {
    const { checkAdoptedTopics } = await import('../engine/adopted-topics.js')
    const onTheirTopics = definitions.map((definition) => onTopic(definition, options.topic ?? null))
    await checkAdoptedTopics(workspace, onTheirTopics, context.kafka, fx)
  }

  const runner = processRunner({ configFile, kafka: context.kafka, topic: options.topic ?? null })
  const started: Started[] = definitions.map((definition) => ({
    definition,
    running: runner.start({
      workspace,
      definition,
      options: {
        sourceOptions: options.option ?? [],
        appId: options.appId ?? null,
        intervalMs: options.interval ?? null,
        acceptGap: options.acceptGap ?? false,
      },
      idempotent: options.idempotent ?? null,
      armed,
      dwellMs: 0,
      hasUpstream: upstreamOf(definition, definitions).length > 0,
      listen: (event) => tell(definition, event, context),
    }),
  }))
  // The reports are this process's work; what they need loads while the queries run on another core.
  const reports = import('./query-report.js')
  if (armed || definitions.some((definition) => definition.report !== 'counts')) void reports.then(({ warmReports }) => warmReports())
  const stopAll = () => {
    for (const { running } of started) running.stop()
  }
  if (signal.aborted) stopAll()
  signal.addEventListener('abort', stopAll)
  const endings = await allEndings(started, definitions)
  signal.removeEventListener('abort', stopAll)

  const armedStep = armed ? `${armed.step}${armed.occurrence > 1 ? `:${armed.occurrence}` : ''}` : null
  const { reportOf, reportText } = await reports
  const json: QueryReport[] = []
  let exitCode = 0
  for (const { definition, ending } of endings) {
    const wentAsAsked = ending.kind === 'ended' || ending.kind === 'killed'
    if (context.json) json.push(await reportOf(workspace, definition, ending, fx))
    else if (wentAsAsked) {
      if (ending.kind === 'killed') context.output.stdout(`${deathSentence(ending.at)}\n`)
      context.output.stdout(await reportText(workspace, definition, fx))
    }
    if (ending.kind === 'ended' && armedStep !== null) {
      exitCode = 1
      say(
        context,
        new StreamtopError('step-not-reached', `${definition.name} never reached ${armedStep}: nothing was killed`, { hint: nothingToDoHint(definition) }),
      )
    } else if (ending.kind === 'died') {
      exitCode = 1
      say(
        context,
        new StreamtopError('internal', `the process of ${definition.name} was killed by ${ending.signal}, which nobody asked for`, {
          hint: `run it again: "streamtop run ${definition.name}"`,
        }),
      )
    } else if (ending.kind === 'failed') {
      exitCode = 1
      if (definitions.length === 1 && !context.json) throw ending.error
      say(context, asStreamtopError(ending.error))
    }
  }
  if (context.json) context.output.stdout(`${safeJson({ queries: json })}\n`)
  return exitCode
}

/** Whatever a query reads from another of the same run ends after that one. */
async function allEndings(started: readonly Started[], definitions: readonly QueryDefinition[]): Promise<readonly Ended[]> {
  const over = new Set<string>()
  return Promise.all(
    started.map(async ({ definition, running }) => {
      const ending = await running.ending
      over.add(definition.name)
      for (const other of started) {
        const writers = upstreamOf(other.definition, definitions)
        if (writers.length > 0 && writers.every((writer) => over.has(writer.name))) other.running.upstreamEnded()
      }
      return { definition, ending }
    }),
  )
}

/** The other queries of this run that write what a query reads. */
function upstreamOf(definition: QueryDefinition, all: readonly QueryDefinition[]): readonly QueryDefinition[] {
  const { source } = definition
  return source.kind === 'table' ? all.filter((other) => other !== definition && other.writes.includes(source.name)) : []
}

/**
 * Each of several queries that read in a circle what the others write would wait for the others' end.
 * @throws usage
 */
function checkSomeoneEnds(definitions: readonly QueryDefinition[]): void {
  let rest = definitions
  for (let count = -1; count !== rest.length; ) {
    count = rest.length
    const isInBetween = (query: QueryDefinition) => upstreamOf(query, rest).length > 0 && rest.some((other) => upstreamOf(other, rest).includes(query))
    rest = rest.filter(isInBetween)
  }
  if (rest.length === 0) return
  throw new StreamtopError('usage', `${rest.map(({ name }) => name).join(' and ')} read in a circle what the others write, so that none is ever caught up`, {
    hint: 'run them with --interval, until ctrl-c, or one after the other',
  })
}

/** Talk while it runs: what people must not miss always, progress when somebody watches. */
function tell(definition: QueryDefinition, event: QueryEvent, context: Context<RunVerbOptions>): void {
  const { output } = context
  const line = (text: string) => output.stderr(`${safeText(`${definition.name}: ${text}`)}\n`)
  if (event.kind === 'note') line(event.text)
  if (event.kind === 'waiting' && event.reason !== undefined) line(event.reason)
  else if (event.kind === 'waiting' && output.stderrIsTerminal) line('waiting for its source')
  if (event.kind !== 'batch') return
  for (const write of event.writes) {
    if (write.outcome !== 'already-committed') continue
    if ((write.leftOutRows ?? 0) > 0) {
      line(`batch ${event.batchId} was skipped, 0 of its ${write.leftOutRows} rows were written: ${write.reason ?? 'the table has its txn'}`)
      line('a table skips every batch whose number is not above the newest it has for the app id; a new --app-id writes them')
    } else if (output.stderrIsTerminal) line(`batch ${event.batchId} was skipped: ${write.reason ?? 'the table has its txn'}`)
  }
  if (output.stderrIsTerminal) line(`batch ${event.batchId} committed: ${event.progress.numInputRows} rows in ${event.progress.batchDuration} ms`)
}

function say(context: Context<RunVerbOptions>, error: StreamtopError): void {
  context.output.stderr(`streamtop: ${safeText(error.message)}${error.condition ? ` [${error.condition}]` : ''}\n`)
  if (error.hint) context.output.stderr(`${safeText(error.hint)}\n`)
}

function nothingToDoHint(definition: QueryDefinition): string {
  return definition.source.kind === 'topic'
    ? 'there was no batch to kill: send something first ("streamtop produce --all"), or the step comes fewer times than asked'
    : `there was no batch to kill: add rows to ${definition.source.name} first, or the step comes fewer times than asked`
}
