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
  // the machine did not let us
  | 'disk-full'
  | 'disk-failed'
  | 'sync-failed'
  | 'not-permitted'
  | 'too-many-files'
  // a vacuum removed what is asked for, or would remove too much
  | 'version-vacuumed'
  | 'retention-too-short'
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
  const known = knownError(error)
  if (known !== null) return known
  return new StreamtopError('internal', error instanceof Error ? error.message : String(error), { cause: error })
}

/** The error when it is one that a person can act upon, also where the system or SQLite raised it; null for one that nobody foresaw. */
export function knownError(error: unknown): StreamtopError | null {
  if (error instanceof StreamtopError) return error
  const { code, message } = (error ?? {}) as { readonly code?: unknown; readonly message?: unknown }
  const condition = isDamagedSchema(code, message) ? 'SQLITE_CORRUPT' : code
  const found = typeof condition === 'string' ? SYSTEM_ERRORS.find(({ codes }) => codes.test(condition)) : undefined
  return found
    ? new StreamtopError(found.named, `${found.what}: ${String(message)}${String(code).startsWith('SQLITE_') ? ` (${code})` : ''}`, {
        hint: found.hint,
        cause: error,
      })
    : null
}

/**
 * Whether SQLite's error means damage although its code does not say so: a table or column that is not there under its name, where nobody
 * else writes the schema, or a format that no SQLite has had.
 */
export function isDamagedSchema(code: unknown, message: unknown): boolean {
  return code === 'SQLITE_ERROR' && /^(no such (table|column)|malformed database schema|unsupported file format)/.test(String(message))
}

/** Whether it is the machine that is in the way, and not what lies on it: nothing is damaged, and nobody's code is wrong. */
export function isMachineError(error: unknown): boolean {
  const known = knownError(error)
  return known !== null && MACHINE_CODES.has(known.code)
}

const MACHINE_CODES: ReadonlySet<ErrorCode> = new Set(['disk-full', 'disk-failed', 'sync-failed', 'not-permitted', 'too-many-files'])

const SYSTEM_ERRORS: readonly { readonly codes: RegExp; readonly named: ErrorCode; readonly what: string; readonly hint: string }[] = [
  {
    codes: /^(ENOSPC|EDQUOT|SQLITE_FULL)$/,
    named: 'disk-full',
    what: 'there is no space left',
    hint: 'free some, then run it again: what is committed is safe, and what was begun is begun again',
  },
  {
    codes: /^(EACCES|EPERM|EROFS|SQLITE_READONLY.*|SQLITE_CANTOPEN.*|SQLITE_PERM|SQLITE_AUTH)$/,
    named: 'not-permitted',
    what: 'a file of the workspace may not be opened or written',
    hint: 'look at whose files these are and whether the disk is mounted read-only; nothing else was changed',
  },
  {
    codes: /^(EIO|SQLITE_IOERR.*)$/,
    named: 'disk-failed',
    what: 'the disk failed',
    hint: 'look at the disk first (the system log says more), then run it again: nothing that is committed was touched',
  },
  {
    codes: /^ENAMETOOLONG$/,
    named: 'bad-name',
    what: 'a name is longer than this file system can have',
    hint: 'take a shorter one: most allow 255 bytes between two slashes',
  },
  {
    codes: /^(EMFILE|ENFILE)$/,
    named: 'too-many-files',
    what: 'too many files are open',
    hint: 'allow more ("ulimit -n"), or run fewer queries at once, then run it again',
  },
  {
    codes: /^(SQLITE_CORRUPT.*|SQLITE_NOTADB)$/,
    named: 'table-damaged',
    what: 'tables/_log.db is damaged',
    hint: 'delete _log.db (with its -wal and -shm): it is built again from the _delta_log of each table; only attempts, replays and skips are lost',
  },
  {
    codes: /^SQLITE_BUSY.*$/,
    named: 'conflict',
    what: 'a database of the workspace is held by another process',
    hint: 'run it again when that has finished',
  },
]
