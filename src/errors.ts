/**
 * The one error class. A code says what happened to a program, the message says it to a person in one sentence, the hint says
 * what to do next. Where Spark or Delta have a name for the same condition, `condition` carries it.
 */

export type ErrorCode =
  // the command line or a configuration was wrong: change it
  | 'usage'
  | 'bad-name'
  | 'bad-config'
  | 'unknown-query'
  | 'unknown-table'
  // another process is at work here: wait or stop it
  | 'concurrent-query'
  | 'conflict'
  // what lies on disk does not fit together: look, then decide
  | 'checkpoint-damaged'
  | 'checkpoint-gap'
  | 'checkpoint-foreign'
  | 'metadata-missing'
  | 'stateful-checkpoint'
  | 'several-sources'
  | 'range-changed'
  | 'table-damaged'
  | 'table-recreated'
  | 'foreign-workspace'
  | 'unsupported-feature'
  | 'unsupported-type'
  | 'unsupported-file-system'
  // the source moved under the query
  | 'source-missing'
  | 'source-changed'
  | 'source-deleted'
  | 'source-truncated'
  | 'data-loss'
  // the rows were wrong
  | 'bad-record'
  | 'bad-value'
  | 'schema-mismatch'
  | 'merge-ambiguous'
  | 'idempotence-options'
  // the user's own function threw
  | 'foreach-batch-failed'
  // nothing was killed although it was asked for
  | 'step-not-reached'
  | 'binding-missing'
  | 'internal'

export interface ErrorDetails {
  /** What to do next, as a sentence. */
  readonly hint?: string
  /** Spark's or Delta's name for the condition. */
  readonly condition?: string
  readonly cause?: unknown
}

/** An error that a user can read and act upon. */
export class StreamtopError extends Error {
  override readonly name = 'StreamtopError'
  readonly hint: string | undefined
  readonly condition: string | undefined

  constructor(
    readonly code: ErrorCode,
    message: string,
    details: ErrorDetails = {},
  ) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause })
    this.hint = details.hint
    this.condition = details.condition
  }
}

/** Any thrown value as an error that can be said. */
export function asStreamtopError(error: unknown): StreamtopError {
  if (error instanceof StreamtopError) return error
  return new StreamtopError('internal', error instanceof Error ? error.message : String(error), { cause: error })
}
