/**
 * What a verb of the command line is: a description as data, and one function that does it.
 *
 * `--help` reads the descriptions of all verbs, so a verb's file must be cheap to load: it imports only its neighbours in this
 * folder, errors, safe-text, engine/steps and matrix/ways at the top, and everything else with `await import(...)` inside `run`.
 * `test/unit/tidy.test.ts` follows the imports from cli.ts and names the file that breaks this.
 */
import type { Effects } from '../effects.js'
import type { KafkaChoice } from '../topic/kafka-choice.js'

/** One verb. `Options` has a member for each option, named as commander names it: `--crash-at` is `crashAt`, absent unless given. */
export interface Verb<Options extends object = object> {
  readonly name: string
  /** What it does, in one line without a full stop: at most 52 characters, so that the list of verbs fits 80 columns. */
  readonly summary: string
  /** More about it, for its own help: a paragraph or two. */
  readonly description?: string
  readonly arguments?: readonly VerbArgument[]
  readonly options?: readonly VerbOption[]
  /** Whole command lines with what they do. */
  readonly examples?: readonly VerbExample[]
  /** What happens without a verb; help tells its options and does not list it. */
  readonly isDefault?: boolean
  /**
   * Does it and gives the exit code: 0 ended as asked, 1 failed or refused. Throws StreamtopError for everything a person can act
   * upon (the code `usage` becomes exit 2). Ends soon and cleanly when `context.signal` fires; the exit code is then the signal's.
   */
  run(context: Context<Options>): Promise<number>
}

export interface VerbArgument {
  /** In commander's notation: `<query...>` is one or more, `<table>` exactly one, `[table]` one or none. */
  readonly flags: string
  readonly description: string
}

export interface VerbOption {
  /** In commander's notation: `--crash-at <step>`. A switch has no `<value>`; `--no-x` beside `--x` makes a three-valued one. */
  readonly flags: string
  readonly description: string
  /** Turns the text into a value; `previous` is what an earlier occurrence gave, or the default. Throws StreamtopError('usage', ...). */
  readonly parse?: (text: string, previous: unknown) => unknown
  readonly default?: unknown
  /** Options, by member name, that make no sense together with this one. */
  readonly conflicts?: readonly string[]
}

export interface VerbExample {
  readonly command: string
  readonly does: string
}

/** What a verb is given. */
export interface Context<Options extends object = object> {
  /** Absolute path of the workspace; the folder need not exist. */
  readonly workspace: string
  /** Whether `--workspace` named it: a folder that nobody named is the current one. */
  readonly isWorkspaceGiven: boolean
  /** `--adopt`: take over a workspace that another tool made. */
  readonly adopt: boolean
  /** Absolute path of `--config`, or null: then `streamtop.config.{mjs,js}` in the workspace, if there is one. */
  readonly configFile: string | null
  /** `--kafka` and `--kafka-properties`; null: topics are the embedded ones. */
  readonly kafka: KafkaChoice | null
  /** `--json`: results as JSON on stdout. */
  readonly json: boolean
  readonly options: Readonly<Options>
  /** The arguments in order, those of a repeatable argument one by one. */
  readonly arguments: readonly string[]
  readonly output: Output
  /** Fires at the first ctrl-c, SIGTERM or SIGHUP: end cleanly. */
  readonly signal: AbortSignal
  readonly fx: Effects
}

/** Results go to stdout, talk and progress to stderr. The text is written as it is, so its line ends are the caller's. */
export interface Output {
  stdout(text: string): void
  stderr(text: string): void
  readonly stdoutIsTerminal: boolean
  readonly stderrIsTerminal: boolean
  /** Nobody reads any more: who has queries to stop says nothing more, for the next word on stdout ends the process on the spot. */
  isUnread?(): boolean
}
