/** `streamtop status`: what disk and ledger say of a workspace, once or again and again. Nothing is written. */
import { safeJson } from '../safe-text.js'
import type { Context, Verb } from './verb.js'

export interface StatusOptions {
  readonly topic?: string
  readonly watch?: boolean
}

export const status: Verb<StatusOptions> = {
  name: 'status',
  summary: 'queries, tables and topics as they are on disk',
  description:
    "Reads checkpoints, tables and the ledger and says where each query is, what its table holds against its source, and why. The workspace is only read, Spark's own too. " +
    'Verdicts: exactly-once, duplicated, missing, empty; "~" marks a batch that is logged and not committed.',
  options: [
    { flags: '--watch', description: 'again every second, until ctrl-c; with --json a line a change' },
    { flags: '--topic <name>', description: 'what queries of topic orders read instead' },
  ],
  examples: [
    { command: 'streamtop status', does: 'once' },
    { command: 'streamtop status --watch', does: 'beside a running query' },
    { command: 'streamtop status --json', does: 'for a program' },
  ],
  run: runStatus,
}

const WATCH_INTERVAL_MS = 1_000
/** Cursor to the top left, and everything below it cleared at the end: lines are drawn over, so nothing flickers. */
const TOP_LEFT = '\u001b[H'
const CLEAR_LINE_END = '\u001b[K'
const CLEAR_BELOW = '\u001b[J'

async function runStatus({ workspace, configFile, kafka, json, options, output, signal, fx }: Context<StatusOptions>): Promise<number> {
  const { findConfig, loadQueries } = await import('../queries/load-queries.js')
  const { Observer } = await import('../observe/observe.js')
  const { sentenceOf } = await import('../observe/sentence.js')
  const { statusText } = await import('./status-text.js')
  const { onTopic } = await import('../engine/open-topic.js')
  const loaded = await loadQueries(configFile ?? findConfig(workspace, fx), fx)
  const queries = loaded.map((query) => onTopic(query, options.topic ?? null))
  const kafkaTopics = kafka === null ? null : (await import('../observe/kafka-topics.js')).openKafkaTopics(kafka, queries, fx)
  const observer = new Observer(workspace, queries, fx, kafkaTopics ? { topicsElsewhere: () => kafkaTopics.look() } : {})
  const watch = options.watch ?? false
  let before: string | null = null
  do {
    const seen = await observer.observe()
    const text = json ? `${safeJson(seen, watch ? undefined : 2)}\n` : statusText(seen, sentenceOf)
    if (!watch) output.stdout(text)
    else if (output.stdoutIsTerminal && !json)
      output.stdout(`${before === null ? '\u001b[2J' : ''}${TOP_LEFT}${text.replaceAll('\n', `${CLEAR_LINE_END}\n`)}${CLEAR_BELOW}`)
    else if (text !== before) output.stdout(before === null || json ? text : `\n${text}`)
    before = text
    if (watch) await fx.sleep(WATCH_INTERVAL_MS, signal)
  } while (watch && !signal.aborted)
  await kafkaTopics?.close()
  return 0
}
