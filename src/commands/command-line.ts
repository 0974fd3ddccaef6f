/**
 * From the words of a command line to an exit code: finds the verb, reads its options, runs it, and turns what was thrown into
 * two lines that a person can act upon. Reads nothing of the process and never exits; `cli.ts` does both.
 *
 * Errors go to stderr: `streamtop: what happened [CONDITION]`, then what to do. With `--json` the same as one line of JSON,
 * also on stderr, so that stdout holds results and nothing else: {"error":{"code","message","hint","condition"}}.
 */
import { resolve } from 'node:path'
import { type Command, CommanderError } from 'commander'
import type { Effects } from '../effects.js'
import { knownError, StreamtopError } from '../errors.js'
import { safeJson, safeText } from '../safe-text.js'
import { VERSION } from '../version.js'
import { buildProgram, type GlobalOptions } from './program.js'
import type { Context, Output, Verb } from './verb.js'

/** What a command line runs in. */
export interface Surroundings {
  readonly workingFolder: () => string
  readonly output: Output
  readonly signal: AbortSignal
  /** Show the stack of an error that nobody foresaw (STREAMTOP_DEBUG=1). */
  readonly showStacks: boolean
  readonly loadEffects: () => Promise<Effects>
}

/**
 * Runs one command line, given without `node` and the script, and resolves to its exit code: 0 ended as asked, 1 failed or
 * refused, 2 wrong usage. It never rejects.
 */
export async function runCommandLine(words: readonly string[], verbs: readonly Verb[], surroundings: Surroundings): Promise<number> {
  const { output } = surroundings
  let exitCode = 0
  try {
    if (words[0] === '--version' || words[0] === '-V') {
      output.stdout(`${VERSION}\n`)
      return 0
    }
    const program = buildProgram(verbs, output, async (verb, command) => {
      exitCode = await runVerb(verb, command, surroundings)
    })
    const hasNothingToDo = words.length === 0 && !verbs.some((verb) => verb.isDefault)
    await program.parseAsync(hasNothingToDo ? ['--help'] : words, { from: 'user' })
    return exitCode
  } catch (error) {
    if (error instanceof CommanderError && error.exitCode === 0) return 0
    // A verb that stops because it was asked to has nothing to explain.
    if (surroundings.signal.aborted && isAbort(error)) return 1
    const failure = explain(error, helpFor(words, verbs))
    output.stderr(words.includes('--json') ? jsonOf(failure) : linesOf(failure))
    if (surroundings.showStacks && failure.stack !== undefined) output.stderr(`${failure.stack}\n`)
    return USAGE_CODES.has(failure.code) ? 2 : 1
  }
}

/** The errors that the words themselves are to blame for, whatever lies in the workspace. */
const USAGE_CODES: ReadonlySet<string> = new Set(['usage', 'bad-name', 'unknown-query'])

async function runVerb(verb: Verb, command: Command, surroundings: Surroundings): Promise<number> {
  const before = command.parent?.opts<GlobalOptions>() ?? {}
  const { workspace, adopt, config, kafka, kafkaProperties, json, ...options } = { ...before, ...command.opts<GlobalOptions>() }
  if (kafka === undefined && kafkaProperties !== undefined) {
    throw new StreamtopError('usage', '--kafka-properties goes with --kafka', { hint: 'for example: --kafka broker:9093 --kafka-properties client.properties' })
  }
  const workingFolder = surroundings.workingFolder()
  const context: Context = {
    workspace: resolve(workingFolder, workspace ?? '.'),
    isWorkspaceGiven: workspace !== undefined,
    adopt: adopt ?? false,
    configFile: config === undefined ? null : resolve(workingFolder, config),
    kafka: kafka === undefined ? null : { brokers: kafka, propertiesFile: kafkaProperties === undefined ? null : resolve(workingFolder, kafkaProperties) },
    json: json ?? false,
    options,
    arguments: command.processedArgs.flat().filter((argument): argument is string => typeof argument === 'string'),
    output: surroundings.output,
    signal: surroundings.signal,
    fx: await surroundings.loadEffects(),
  }
  if (context.isWorkspaceGiven) {
    const { checkWorkspaceFolder } = await import('../engine/workspace-folder.js')
    checkWorkspaceFolder(context.workspace, context.fx)
  }
  return verb.run(context)
}

/** What is told of an error. */
interface Failure {
  readonly code: string
  readonly message: string
  readonly hint: string | undefined
  readonly condition: string | undefined
  readonly stack: string | undefined
}

function explain(error: unknown, help: string): Failure {
  const known = knownError(error)
  if (known !== null) return { code: known.code, message: known.message, hint: known.hint, condition: known.condition, stack: known.stack }
  if (error instanceof CommanderError) return explainUsage(error, help)
  const message = error instanceof Error ? error.message || error.name : String(error)
  return {
    code: 'internal',
    message: `something went wrong that streamtop does not know: ${message}`,
    hint: 'what is committed is safe; run it again with STREAMTOP_DEBUG=1 to see where it happened',
    condition: undefined,
    stack: error instanceof Error ? error.stack : undefined,
  }
}

/** Commander says "error: unknown option '--x'", and on a line of its own "(Did you mean --y?)". */
function explainUsage(error: CommanderError, help: string): Failure {
  const [first = '', suggestion = ''] = error.message.split('\n')
  const nearest = /^\(Did you mean (.+)\?\)$/.exec(suggestion)?.[1]
  return {
    code: 'usage',
    // Options but no verb: commander would print help to stderr, and calls that "(outputHelp)".
    message: error.code === 'commander.help' ? 'no verb was given' : first.replace(/^error: /, '').replace(/unknown command/, 'unknown verb'),
    hint: nearest === undefined ? `see "${help}"` : `did you mean ${nearest}? If not, see "${help}"`,
    condition: undefined,
    stack: undefined,
  }
}

/** The help that is nearest to what was typed. */
function helpFor(words: readonly string[], verbs: readonly Verb[]): string {
  const verb = verbs.find(({ name }) => words.includes(name))
  return verb ? `streamtop ${verb.name} --help` : 'streamtop --help'
}

function linesOf(failure: Failure): string {
  const condition = failure.condition === undefined ? '' : ` [${safeText(failure.condition)}]`
  const hint = failure.hint === undefined ? '' : `${safeText(failure.hint)}\n`
  return `streamtop: ${safeText(failure.message)}${condition}\n${hint}`
}

function jsonOf(failure: Failure): string {
  const { code, message, hint = null, condition = null } = failure
  return `${safeJson({ error: { code, message, hint, condition } })}\n`
}

function isAbort(error: unknown): boolean {
  return error instanceof Error && error.name === 'AbortError'
}
