/** `streamtop run`: runs queries, each in a process of its own, until they are caught up or for ever. */
import { STEPS, type Step } from '../engine/steps.js'
import { StreamtopError } from '../errors.js'
import type { Verb } from './verb.js'
import { wholeNumber } from './whole-number.js'

export interface RunVerbOptions {
  readonly idempotent?: boolean
  readonly appId?: string
  readonly option?: readonly string[]
  readonly crash?: boolean
  readonly crashAt?: { readonly step: Step; readonly occurrence: number }
  readonly interval?: number
  readonly acceptGap?: boolean
  readonly topic?: string
}

export const run: Verb<RunVerbOptions> = {
  name: 'run',
  summary: 'run queries until they are caught up, or for ever',
  description:
    'Runs each query in a process of its own until it is caught up with what is there now; with --interval until ctrl-c. Queries that come with streamtop: bronze_orders, events_copy, orders. ' +
    'With --crash or --crash-at the process kills itself with SIGKILL at that step of its next batch; run it again without to see what the restart does. ' +
    `Steps: ${STEPS.join(' ')}.`,
  arguments: [{ flags: '<query...>', description: 'queries, of streamtop or of streamtop.config.mjs' }],
  options: [
    { flags: '--idempotent', description: 'write with the pair (app id, batch id)' },
    { flags: '--no-idempotent', description: 'write plainly: a batch that runs again is written again' },
    { flags: '--app-id <id>', description: "the app id of idempotent writes; the query's name unless given", parse: parseAppId },
    { flags: '--option <key=value>', description: 'an option of the source, as Spark names it; may be repeated', parse: collect },
    { flags: '--crash', description: 'die after the table has the batch, before it is committed', conflicts: ['crashAt'] },
    { flags: '--crash-at <step>', description: 'die at a step, STEP or STEP:OCCURRENCE', parse: parseCrashAt },
    { flags: '--interval <ms>', description: 'go on until ctrl-c, planning a batch every so often', parse: wholeNumber('--interval', 0) },
    { flags: '--topic <name>', description: 'what queries of topic orders read instead' },
    { flags: '--accept-gap', description: 'take missing commits below the newest batch as done, as Spark does' },
  ],
  examples: [
    { command: 'streamtop run bronze_orders', does: 'topic orders into a table' },
    { command: 'streamtop run events_copy --crash', does: 'die between write and commit' },
    { command: 'streamtop run orders --interval 1000', does: 'until ctrl-c' },
    { command: 'streamtop run bronze_orders --kafka HOST:9092', does: 'from a real topic' },
  ],
  async run(context) {
    const { runQueries } = await import('./run-queries.js')
    return runQueries(context)
  },
}

function collect(text: string, previous: unknown): readonly string[] {
  if (!/^[^=]+=/.test(text)) throw new StreamtopError('usage', `--option takes KEY=VALUE, not ${text}`, { hint: 'for example --option maxFilesPerTrigger=1' })
  return [...((previous as readonly string[] | undefined) ?? []), text]
}

/** Delta has no txn without a name: told before a batch is begun with it. */
function parseAppId(text: string): string {
  if (text === '') throw new StreamtopError('usage', '--app-id takes a text that is not empty', { hint: 'for example: --app-id events_copy_2' })
  return text
}

function parseCrashAt(text: string): { readonly step: Step; readonly occurrence: number } {
  const [name = '', count, ...rest] = text.split(':')
  const occurrence = count === undefined ? 1 : Number(count)
  if (rest.length > 0 || !(STEPS as readonly string[]).includes(name) || !Number.isSafeInteger(occurrence) || occurrence < 1) {
    throw new StreamtopError('usage', `--crash-at takes STEP or STEP:OCCURRENCE, not ${text}`, { hint: `the steps are ${STEPS.join(', ')}` })
  }
  return { step: name as Step, occurrence }
}
