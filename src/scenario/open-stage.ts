/** Opens a stage: real processes, or everything in this one under a virtual clock. */
import { join } from 'node:path'
import type { Effects } from '../effects.js'
import { checkpointFolder, listBatches } from '../engine/checkpoint.js'
import type { QueryDefinition } from '../engine/definition.js'
import { inlineRunner } from '../engine/inline-runner.js'
import { processRunner } from '../engine/process-runner.js'
import { type NamedQuery, type Runner, runnerByName, type RunningQuery } from '../engine/runner.js'
import { StreamtopError } from '../errors.js'
import { jsonRows } from '../observe/json-rows.js'
import { Observer } from '../observe/observe.js'
import { readTable } from '../observe/read-table.js'
import { tableHistory } from '../observe/table-history.js'
import { findQuery } from '../queries/load-queries.js'
import { openSession } from '../session/live-session.js'
import { openWorkspaceService } from '../session/open-workspace-service.js'
import type { RunOnce } from '../session/session.js'
import type { WorkspaceService } from '../session/workspace-service.js'
import { warmParquet } from '../store/parquet.js'
import { readFooter } from '../store/parquet-footer.js'
import { openEmbeddedTopic } from '../topic/embedded-topic.js'
import type { KafkaChoice } from '../topic/kafka-choice.js'
import type { Stage } from './stage.js'
import { asScenariosSay, embeddedStageTopic, kafkaStageTopic } from './stage-topic.js'

export interface StageChoices {
  /** Absolute path; it need not exist. */
  readonly workspace: string
  /** Absolute path of the file that `queries` were loaded from, null for none. */
  readonly configFile: string | null
  readonly queries: readonly QueryDefinition[]
  /** In this process: `fx` is a virtual world, and there is no Kafka in it. */
  readonly isVirtual: boolean
  /** Where the topic of the play is made; in the workspace unless given. */
  readonly kafka?: KafkaChoice | null
  /** Who runs the queries of a play that is not virtual; processes of this build unless given. */
  readonly runner?: Runner<NamedQuery>
  readonly signal: AbortSignal
  /** How its queries go: `full` unless given. */
  readonly pace?: string
  /** Who reads the workspace for the session; this thread unless given. Closed with the stage. */
  readonly service?: WorkspaceService
}

const MOST_VERSIONS = 10_000

/** @throws what opening the workspace finds; usage when somebody else has it */
export async function openStage(choices: StageChoices, fx: Effects): Promise<Stage> {
  const { workspace, configFile, isVirtual, signal, kafka = null } = choices
  const topic = await (kafka === null ? embeddedStageTopic(workspace, choices.queries, fx) : kafkaStageTopic(choices.queries, kafka, fx))
  const { queries, elsewhere } = topic
  const inThisProcess = () => runnerByName(inlineRunner(openEmbeddedTopic, fx), (name) => findQuery(queries, name))
  const runner = isVirtual ? inThisProcess() : (choices.runner ?? processRunner({ configFile, kafka, topic: topic.name }, fx))
  if (isVirtual) await loadWhatIsLoadedLate()
  const session = await openSession(
    { workspace, configFile, adopt: false, isReadOnly: false, pace: choices.pace ?? 'full', startsNothing: true, kafka, topic: topic.name },
    choices.service ?? openWorkspaceService(fx),
    () => runner,
    fx,
  ).catch(async (error: unknown) => {
    // With a connection left open the process would not end.
    await topic.close()
    throw error
  })
  const { access, holderPid } = session.state
  if (access !== 'owner') {
    await session.close()
    await topic.close()
    throw new StreamtopError(access === 'viewer' ? 'concurrent-query' : 'foreign-workspace', refusal(access, holderPid), { hint: 'play it in an empty folder' })
  }
  /** Second processes, which the session does not know. */
  const beside = new Set<RunningQuery>()
  const observer = new Observer(workspace, queries, fx, elsewhere === null ? {} : { topicsElsewhere: () => elsewhere.look() })
  return {
    session,
    workspace,
    signal,
    send: (records) => topic.send(records),
    runBeside: (query, once) => runBeside(runner, workspace, findQuery(queries, query), once, beside),
    status: async () => asScenariosSay(await observer.observe(), topic),
    history: (table) => tableHistory(workspace, table, MOST_VERSIONS, fx),
    async rows(table) {
      const columns = await readTable(workspace, table, fx)
      return columns === null ? null : jsonRows(columns, columns.rowCount)
    },
    checkpoint(query) {
      const folder = checkpointFolder(workspace, query)
      return { ...listBatches(folder, fx), metadata: fx.files.exists(join(folder, 'metadata')) }
    },
    lose(query, file) {
      const path = join(checkpointFolder(workspace, query), file)
      if (!fx.files.exists(path)) throw new StreamtopError('usage', `the checkpoint of ${query} has no ${file} to lose`)
      fx.files.remove(path)
    },
    async close() {
      try {
        // Of a line that nobody waits for any more.
        for (const running of beside) running.kill()
        await Promise.all([...beside].map(({ ending }) => ending))
        await session.close()
      } finally {
        await topic.close()
      }
    },
  }
}

/** Virtual time does not know that something is being loaded, and would go on meanwhile. */
async function loadWhatIsLoadedLate(): Promise<void> {
  await Promise.all([warmParquet(), import('../store/data-files.js'), readFooter(new Uint8Array()).catch(() => null)])
}

function refusal(access: 'viewer' | 'foreign' | 'read-only', holderPid: number | null): string {
  return access === 'viewer' ? `the queries of this workspace are held by process ${holderPid}` : 'this workspace was made by another tool, most likely Spark'
}

async function runBeside(
  runner: Runner<NamedQuery>,
  workspace: string,
  definition: QueryDefinition,
  once: RunOnce,
  beside: Set<RunningQuery>,
): Promise<string> {
  const { name } = definition
  const running = runner.start({
    workspace,
    definition,
    options: { sourceOptions: once.sourceOptions ?? [], appId: once.appId ?? null, intervalMs: null, acceptGap: once.acceptGap ?? false },
    idempotent: once.idempotent ?? null,
    armed: once.armed ?? null,
    dwellMs: 0,
    hasUpstream: false,
    listen: () => {},
  })
  beside.add(running)
  const ending = await running.ending
  beside.delete(running)
  if (ending.kind === 'failed') throw ending.error
  if (ending.kind === 'ended') return `${name} is caught up`
  throw new StreamtopError('internal', `the second process of ${name} was killed`)
}
