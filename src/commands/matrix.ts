/** `streamtop matrix`: every step × every way of writing, killed there for real, started again, and what is then on disk. */
import { STEPS } from '../engine/steps.js'
import { StreamtopError } from '../errors.js'
import { WAYS } from '../matrix/ways.js'
import { safeText } from '../safe-text.js'
import type { Verb } from './verb.js'

export interface MatrixVerbOptions {
  readonly way?: readonly string[]
  readonly step?: readonly string[]
  readonly keep?: boolean
}

const WAY_NAMES = WAYS.map(({ name }) => name)

export const matrix: Verb<MatrixVerbOptions> = {
  name: 'matrix',
  summary: 'die at every step of every way of writing, and look',
  description:
    'Sends nine orders, kills a query with SIGKILL at a step, starts it again and counts what its table holds, for each way of writing and each step, in temporary workspaces. ' +
    'A row with ✓ is as the protocol says, for a way that writes twice too; one with ✗ is not, and the exit code is 1. STEP:2 is the step in the write to the second table. ' +
    'With --kafka the native sink alone, from a topic that is made for it and removed.\n\n' +
    `Ways: ${WAYS.map(({ name, about }) => `${name} (${about})`).join('; ')}.\n\nSteps: ${STEPS.join(' ')}.`,
  options: [
    { flags: '--way <name>', description: 'this way alone; may be repeated', parse: oneOf('--way', WAY_NAMES) },
    { flags: '--step <step>', description: 'this step alone; may be repeated', parse: oneOf('--step', STEPS) },
    { flags: '--keep', description: 'leave the workspaces for a look; those of rows with ✗ are always left' },
  ],
  examples: [
    { command: 'streamtop matrix', does: 'all of it' },
    { command: 'streamtop matrix --way append --way append-txn', does: 'with a txn and without' },
    { command: 'streamtop matrix --step table-committed', does: 'where writes are doubled' },
    { command: 'streamtop matrix --kafka HOST:9092', does: 'from a real topic' },
  ],
  async run(context) {
    const { printMatrix } = await import('./print-matrix.js')
    return printMatrix(context)
  },
}

function oneOf(flag: string, known: readonly string[]): (text: string, previous: unknown) => readonly string[] {
  return (text, previous) => {
    if (known.includes(text)) return [...((previous as readonly string[] | undefined) ?? []), text]
    throw new StreamtopError('usage', `${flag} takes one of ${known.join(', ')}, not "${safeText(text, 40)}"`, { hint: `for example: ${flag} ${known.at(-2)}` })
  }
}
