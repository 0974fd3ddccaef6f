/**
 * The verbs as a commander program: their options beside the ones that every verb takes, and how help looks at 80 columns.
 * Commander never prints an error or exits here: both come out as a CommanderError.
 */
import { Argument, Command, Help, Option } from 'commander'
import { StreamtopError } from '../errors.js'
import type { Output, Verb, VerbExample, VerbOption } from './verb.js'

/** The options that every verb takes, before or after it. */
export interface GlobalOptions {
  readonly workspace?: string
  readonly adopt?: boolean
  readonly config?: string
  readonly kafka?: string
  readonly kafkaProperties?: string
  readonly json?: boolean
}

const GLOBAL_OPTIONS: readonly VerbOption[] = [
  { flags: '--workspace <dir>', description: 'folder of tables/, checkpoints/ and topics.db; the current one unless given' },
  { flags: '--adopt', description: 'take over a workspace that Spark or another tool made' },
  { flags: '--config <file>', description: 'your own queries; streamtop.config.{mjs,js} in the workspace unless given' },
  { flags: '--kafka <brokers>', description: 'topics are on this Kafka: HOST:PORT, several with commas' },
  { flags: '--kafka-properties <file>', description: "its TLS and SASL, as Kafka's own clients read them" },
  { flags: '--json', description: 'results as JSON on stdout, an error as JSON on stderr' },
]

const HELP_WIDTH = 80
const VERBS_TITLE = 'Verbs:'
const DASHBOARD_TITLE = 'Options of the dashboard, which opens without a verb:'

const FIRST_STEPS: readonly VerbExample[] = [
  { command: 'streamtop produce --all', does: 'send nine orders' },
  { command: 'streamtop run bronze_orders', does: 'topic to table: 9 rows' },
  { command: 'streamtop run events_copy --crash', does: 'copy them, die before the commit' },
  { command: 'streamtop run events_copy', does: 'the batch runs again: 18 rows' },
]

/** A program with these verbs that prints help to `output` and calls `onVerb` with the verb that was asked for. */
export function buildProgram(verbs: readonly Verb[], output: Output, onVerb: (verb: Verb, command: Command) => Promise<void>): Command {
  const byDefault = verbs.find((verb) => verb.isDefault)
  const program: Command = new Command('streamtop')
    .description('Watch live streaming queries, kill them in mid-batch, and see what is\non disk: checkpoints as Spark writes them, tables as Delta Lake does.')
    .usage(byDefault ? '[VERB] [options]' : 'VERB [options]')
    .exitOverride()
    .enablePositionalOptions()
    .helpCommand(false)
    .helpOption('-h, --help', 'show help, of a verb when it follows one')
    .configureHelp({
      helpWidth: HELP_WIDTH,
      subcommandTerm: (command) => command.name(),
      formatHelp: (command, help) => inOrder(Help.prototype.formatHelp.call(help, command, help), command === program ? defaultOptions() : []),
    })
    .configureOutput({
      writeOut: (text) => output.stdout(text),
      writeErr: () => undefined,
      outputError: () => undefined,
      getOutHelpWidth: () => HELP_WIDTH,
      getOutHasColors: () => false,
    })
    .addOption(new Option('-V, --version', 'show the version'))
    .optionsGroup('Options that every verb takes:')
    .commandsGroup(VERBS_TITLE)
    .addHelpText('after', `\nFirst steps, in an empty folder:\n${examplesText(FIRST_STEPS)}\n\nOptions of a verb: streamtop VERB --help`)
  addOptions(program, GLOBAL_OPTIONS)
  for (const verb of verbs) {
    const command = buildCommand(verb, program, onVerb)
    program.addCommand(command, verb.isDefault ? { isDefault: true, hidden: true } : {})
  }
  return program

  /** The options of the dashboard as its own help has them, for the help of all. */
  function defaultOptions(): string[] {
    const help = program.commands.find((command) => command.name() === byDefault?.name)?.helpInformation() ?? ''
    return help.split('\n\n').filter((section) => section.startsWith(DASHBOARD_TITLE))
  }
}

function buildCommand(verb: Verb, program: Command, onVerb: (verb: Verb, command: Command) => Promise<void>): Command {
  const command = new Command(verb.name).copyInheritedSettings(program).summary(verb.summary)
  command.description(verb.description ?? `${verb.summary}.`)
  for (const argument of verb.arguments ?? []) command.addArgument(new Argument(argument.flags, argument.description))
  if (verb.isDefault) command.usage('[options]').optionsGroup(DASHBOARD_TITLE)
  addOptions(command, verb.options ?? [])
  command.optionsGroup('Options that every verb takes:')
  addOptions(command, GLOBAL_OPTIONS)
  if (verb.examples?.length) command.addHelpText('after', `\nExamples:\n${examplesText(verb.examples)}`)
  // What stands behind no verb is a verb that nobody knows.
  if (verb.isDefault) command.allowExcessArguments()
  return command.action(() => (verb.isDefault && command.args.length > 0 ? refuseWord(program, command) : onVerb(verb, command)))
}

/** Words that the verb by default was given, and which it does not take. */
async function refuseWord(program: Command, command: Command): Promise<never> {
  const [first = '', second] = command.args
  const isKnown = (name: string) => program.commands.some((known) => known.name() === name)
  // Help in git's words.
  if (first === 'help' && (second === undefined || isKnown(second)))
    return program.parseAsync([...command.args.slice(1, 2), '--help'], { from: 'user' }) as never
  const word = first === 'help' ? (second ?? '') : first
  if (isKnown(word)) {
    const given = command.options.filter((option) => command.getOptionValueSource(option.attributeName()) === 'cli').map((option) => option.long)
    throw new StreamtopError('usage', `the verb ${word} stands behind options that it does not take (${given.join(', ')})`, {
      hint: `see "streamtop ${word} --help"`,
    })
  }
  const nearest = new Command().name('streamtop')
  for (const known of program.commands) if (known.name() !== command.name()) nearest.command(known.name())
  nearest
    .exitOverride()
    .helpCommand(false)
    .configureOutput({ writeErr: () => undefined, outputError: () => undefined })
  return nearest.parseAsync([word], { from: 'user' }) as never
}

/** Commander lists options before commands; whoever asks for help without a verb wants the verbs, then what happens without one. */
function inOrder(help: string, defaultOptions: readonly string[]): string {
  const sections = help.trimEnd().split('\n\n')
  const verbs = sections.filter((section) => section.startsWith(VERBS_TITLE))
  const rest = sections.filter((section) => !section.startsWith(VERBS_TITLE))
  return `${[...rest.slice(0, 2), ...verbs, ...defaultOptions, ...rest.slice(2)].join('\n\n')}\n`
}

function addOptions(command: Command, options: readonly VerbOption[]): void {
  for (const { flags, description, parse, default: byDefault, conflicts } of options) {
    const option = new Option(flags, description)
    if (parse) option.argParser(parse)
    if (byDefault !== undefined) option.default(byDefault)
    if (conflicts) option.conflicts([...conflicts])
    command.addOption(option)
  }
}

function examplesText(examples: readonly VerbExample[]): string {
  const width = Math.max(...examples.map((example) => example.command.length))
  return examples.map((example) => `  ${example.command.padEnd(width)}  ${example.does}`).join('\n')
}
