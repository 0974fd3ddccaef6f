/** The error for a file of a checkpoint that cannot be what it should be: it names the file, says what that means, and what is safe. */
import { StreamtopError } from '../errors.js'

/**
 * @param path the file
 * @param what the rest of the sentence: "is empty"
 * @param details what is safe to do instead of restoring a copy, and Spark's name of the condition
 */
export function damagedFile(
  path: string,
  what: string,
  details: { readonly safe?: string; readonly condition?: string; readonly cause?: unknown } = {},
): StreamtopError {
  return new StreamtopError('checkpoint-damaged', `${path} ${what}`, {
    hint: `restore the file from a copy; ${details.safe ?? 'without one, "streamtop reset" makes a new checkpoint, which reads everything again'}`,
    ...(details.condition === undefined ? {} : { condition: details.condition }),
    ...(details.cause === undefined ? {} : { cause: details.cause }),
  })
}

/** The lines of a log file: split at line ends, the empty rest behind a last one left out. */
export function logLines(text: string): string[] {
  const lines = text.split(/\r?\n/)
  if (lines.at(-1) === '') lines.pop()
  return lines
}

/**
 * The number in a version line (`v1`).
 * @throws checkpoint-damaged when it is no version or one above `newest`, with Spark's condition for that
 */
export function logVersion(line: string, newest: number, path: string): number {
  const found = /^v([1-9][0-9]*)$/.exec(line)
  if (!found) throw damagedFile(path, `does not begin with a version (its first line is ${JSON.stringify(line.slice(0, 40))})`)
  const version = Number(found[1])
  if (version <= newest) return version
  throw damagedFile(path, `has log version v${found[1]}; v${newest} is the newest that can be read`, {
    safe: 'or run this query with the newer Spark that wrote it',
    condition: 'INVALID_LOG_VERSION.MAX_SUPPORTED_VERSION',
  })
}

/**
 * A line that must hold one JSON object.
 * @throws checkpoint-damaged when it does not
 */
export function jsonObject(line: string, path: string, name: string, condition?: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(line)
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Record<string, unknown>
  } catch {
    // said below, with the file's name
  }
  throw damagedFile(path, `is broken or cut off: its ${name} is not a JSON object`, condition === undefined ? {} : { condition })
}
