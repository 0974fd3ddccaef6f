/** A command line, or the output of a verb, in this process: what it says is kept instead of shown. */
import { runCommandLine } from '../src/commands/command-line.js'
import { VERBS } from '../src/commands/registry.js'
import type { Output, Verb } from '../src/commands/verb.js'
import { type Effects, realEffects } from '../src/effects.js'

/** An output that keeps what it is given, in `said`. */
export class KeptOutput implements Output {
  said = { stdout: '', stderr: '' }
  readonly stdoutIsTerminal: boolean
  readonly stderrIsTerminal: boolean

  constructor(isTerminal = false) {
    this.stdoutIsTerminal = isTerminal
    this.stderrIsTerminal = isTerminal
  }

  stdout(text: string): void {
    this.said.stdout += text
  }

  stderr(text: string): void {
    this.said.stderr += text
  }
}

/** What a command line runs in, where a test says otherwise than the defaults. */
export interface CommandChoices {
  readonly verbs?: readonly Verb[]
  readonly fx?: Effects
  readonly signal?: AbortSignal
  readonly isTerminal?: boolean
  readonly showStacks?: boolean
}

/** Runs a command line from `src`, given without `streamtop`, in a working folder. Not for verbs that start a query's process. */
export async function commandHere(
  workingFolder: string,
  words: readonly string[],
  { verbs = VERBS, fx = realEffects, signal = new AbortController().signal, isTerminal = false, showStacks = false }: CommandChoices = {},
): Promise<{ readonly exitCode: number; readonly stdout: string; readonly stderr: string }> {
  const output = new KeptOutput(isTerminal)
  const exitCode = await runCommandLine(words, verbs, { workingFolder: () => workingFolder, output, signal, showStacks, loadEffects: async () => fx })
  return { exitCode, ...output.said }
}
