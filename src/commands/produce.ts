/**
 * `streamtop produce`: sends records to a topic. An embedded one is made when it is not there, one on Kafka with --partitions. stdout stays empty without
 * `--json`; what was sent is said on stderr, to a person at a terminal.
 */
import type { Effects } from '../effects.js'
import { knownError, StreamtopError } from '../errors.js'
import { safeJson, safeText } from '../safe-text.js'
import type { TopicProducer } from '../topic/topic.js'
import type { Context, Verb } from './verb.js'
import { wholeNumber } from './whole-number.js'

export interface ProduceOptions {
  readonly part?: number
  readonly all?: boolean
  readonly rate?: number
  readonly from?: string
  readonly seconds?: number
  readonly seed?: string
  readonly topic?: string
  readonly partitions?: number
}

export const produce: Verb<ProduceOptions> = {
  name: 'produce',
  summary: 'send orders, or the lines of a file, to a topic',
  description:
    'Sends records to a topic, in one transaction a part. Four parts hold nine order events; --rate goes on from there with orders made from a seed, where the last run stopped. ' +
    'With --from each line of a file is a record, as it is: KEY<TAB>VALUE, split at the first tab, or a value alone; empty lines are passed over.',
  options: [
    { flags: '--part <n>', description: 'one of the four parts of the nine events', parse: wholeNumber('--part', 1, 4), conflicts: ['all', 'rate', 'from'] },
    { flags: '--all', description: 'the four parts, one after the other', conflicts: ['part', 'rate', 'from'] },
    { flags: '--rate <r>', description: 'generated orders, so many a second', parse: positiveNumber('--rate'), conflicts: ['part', 'all', 'from'] },
    { flags: '--seconds <s>', description: 'how long --rate goes on; until ctrl-c unless given', parse: positiveNumber('--seconds') },
    { flags: '--seed <seed>', description: 'what --rate makes its orders from; 1 unless given' },
    { flags: '--from <file>', description: 'the lines of a file; "-" is stdin', conflicts: ['part', 'all', 'rate'] },
    { flags: '--topic <name>', description: 'the topic; orders unless given' },
    {
      flags: '--partitions <n>',
      description: 'of a topic that is made now; 1 unless given. On Kafka no topic is made without it',
      parse: wholeNumber('--partitions', 1, 1_000),
    },
  ],
  examples: [
    { command: 'streamtop produce --all', does: 'the nine events' },
    { command: 'streamtop produce --part 2', does: 'two of them' },
    { command: 'streamtop produce --all --kafka localhost:9092', does: 'to a real topic' },
    { command: 'streamtop produce --rate 100 --seconds 10', does: 'a thousand orders' },
    { command: 'streamtop produce --from lines.tsv', does: 'your own records' },
  ],
  run: runProduce,
}

async function runProduce(context: Context<ProduceOptions>): Promise<number> {
  const { options, output, workspace, fx } = context
  checkOptions(options)
  const topic = options.topic ?? 'orders'
  const { checkForeign } = await import('../engine/workspace.js')
  checkForeign(workspace, context.adopt, fx)
  const input = options.from === undefined ? null : await openInput(options.from, context)
  const producer = await openProducer(topic, context)
  const progress = new Progress(context)
  try {
    const sent = await sendWhatWasAsked(producer, input, context, progress)
    progress.end()
    const ends = [...(await producer.endOffsets())]
    if (context.json) {
      const endOffsets = Object.fromEntries(ends.map(([partition, end]) => [partition, String(end)]))
      output.stdout(`${safeJson({ topic, sent, partitions: producer.partitions, endOffsets })}\n`)
    }
    if (output.stderrIsTerminal) output.stderr(`sent ${counted(sent)} to topic ${topic}, which ends at ${endsText(ends)}\n`)
    return 0
  } finally {
    progress.end()
    await producer.close()
  }
}

async function openProducer(topic: string, { workspace, kafka, options, fx }: Context<ProduceOptions>): Promise<TopicProducer> {
  const partitions = options.partitions === undefined ? {} : { partitions: options.partitions }
  if (kafka === null) {
    const { openEmbeddedProducer } = await import('../topic/embedded-producer.js')
    return openEmbeddedProducer(workspace, topic, partitions, fx)
  }
  const { readKafkaSettings } = await import('../topic/kafka-settings.js')
  const { openKafkaProducer } = await import('../topic/kafka-producer.js')
  return openKafkaProducer(readKafkaSettings(kafka, process.env, fx), topic, { workspace, ...partitions }, fx)
}

function checkOptions(options: ProduceOptions): void {
  if (options.part === undefined && !options.all && options.rate === undefined && options.from === undefined) {
    throw new StreamtopError('usage', 'produce needs to know what to send', {
      hint: 'give --all or --part N for the nine events, --rate R for generated orders, --from FILE for your own records',
    })
  }
  if (options.rate !== undefined) return
  if (options.seconds !== undefined) throw new StreamtopError('usage', '--seconds goes with --rate', { hint: 'for example: --rate 10 --seconds 5' })
  if (options.seed !== undefined) throw new StreamtopError('usage', '--seed goes with --rate', { hint: 'for example: --rate 10 --seed 7' })
}

/** Gives the number of records sent. */
async function sendWhatWasAsked(
  producer: TopicProducer,
  input: AsyncIterable<Uint8Array> | null,
  { options, signal, fx }: Context<ProduceOptions>,
  progress: Progress,
): Promise<number> {
  const onSent = (sent: number) => progress.update(sent)
  if (input) return sendLines(producer, input, signal, onSent, fx)
  if (options.rate !== undefined) {
    const { generateOrders } = await import('../queries/generate-orders.js')
    const { rate, seed = '1', seconds = Number.POSITIVE_INFINITY } = options
    return generateOrders(producer, { seed, ratePerSecond: rate, seconds, signal, onSent }, fx)
  }
  const { partRecords } = await import('../queries/order-parts.js')
  let sent = 0
  for (const part of options.part === undefined ? [1, 2, 3, 4] : [options.part]) {
    if (signal.aborted) break
    const records = partRecords(part)
    await producer.send(records)
    sent += records.length
  }
  return sent
}

async function sendLines(
  producer: TopicProducer,
  input: AsyncIterable<Uint8Array>,
  signal: AbortSignal,
  onSent: (sent: number) => void,
  fx: Effects,
): Promise<number> {
  const { recordLines } = await import('../topic/record-lines.js')
  let sent = 0
  try {
    for await (const records of recordLines(input, fx)) {
      if (signal.aborted) break
      await producer.send(records)
      sent += records.length
      onSent(sent)
    }
  } catch (error) {
    if (signal.aborted) return sent
    // What SQLite says is of the topic, whatever else is thrown here of what is read.
    const ofTopic = error instanceof StreamtopError || isOfSqlite(error) ? knownError(error) : null
    if (ofTopic) throw new StreamtopError(ofTopic.code, ofTopic.message, { hint: `${counted(sent)} before it were sent`, cause: error })
    throw new StreamtopError('source-missing', `what to send could not be read (${messageOf(error)})`, {
      hint: `${counted(sent)} before that were sent`,
      cause: error,
    })
  }
  return sent
}

function isOfSqlite(error: unknown): boolean {
  return String((error as { readonly code?: unknown } | null)?.code).startsWith('SQLITE_')
}

/** The bytes of a file, or of stdin; they end with an error when the signal fires. */
async function openInput(path: string, { signal, fx }: Context): Promise<AsyncIterable<Uint8Array>> {
  if (path === '-') {
    // Node reads it as a file in which there is nothing.
    if (fx.files.status('/dev/stdin')?.isFolder)
      throw new StreamtopError('source-missing', 'stdin is a folder', { hint: 'give it the lines of a file: streamtop produce --from - < FILE' })
    const { addAbortSignal } = await import('node:stream')
    return addAbortSignal(signal, process.stdin)
  }
  // Asked before the topic is made, so that a mistyped name leaves nothing behind.
  const status = fx.files.status(path)
  if (status && !status.isFolder) return fx.files.readPieces(path, signal)
  throw new StreamtopError('source-missing', `${safeText(path)} ${status ? 'is a folder' : 'is not there'}`, { hint: 'name a file of lines, or "-" for stdin' })
}

/** One line on a terminal that counts what was sent, drawn again at most five times a second. */
class Progress {
  private readonly isShown: boolean
  private drawnMs = Number.NEGATIVE_INFINITY

  constructor(private readonly context: Context<ProduceOptions>) {
    this.isShown = context.output.stderrIsTerminal
  }

  update(sent: number): void {
    const nowMs = this.context.fx.monotonicMs()
    if (!this.isShown || nowMs - this.drawnMs < 200) return
    this.context.output.stderr(`\rsent ${counted(sent)}`)
    this.drawnMs = nowMs
  }

  /** Wipes the line. */
  end(): void {
    if (this.drawnMs === Number.NEGATIVE_INFINITY) return
    this.context.output.stderr('\r\x1b[K')
    this.drawnMs = Number.NEGATIVE_INFINITY
  }
}

function positiveNumber(flag: string): (text: string) => number {
  return (text) => {
    const value = Number(text)
    if (/^\d*\.?\d+$/.test(text) && value > 0 && value <= 1e9) return value
    throw new StreamtopError('usage', `${flag} takes a number above 0, not "${safeText(text, 40)}"`, { hint: `for example: ${flag} 10` })
  }
}

function endsText(ends: readonly (readonly [number, bigint])[]): string {
  if (ends.length === 1) return String(ends[0]?.[1])
  const shown = ends.slice(0, 8).map(([partition, end]) => `${partition}:${end}`)
  return ends.length > shown.length ? `${shown.join(' ')} …` : shown.join(' ')
}

function counted(records: number): string {
  return records === 1 ? '1 record' : `${records} records`
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
