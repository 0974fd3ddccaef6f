/** Errors as the status object has them. */
import { knownError } from '../errors.js'
import type { StatusError } from './status.js'

export function statusErrorOf(error: unknown): StatusError {
  const known = knownError(error)
  if (known !== null) return { code: known.code, message: known.message, hint: known.hint ?? null, condition: known.condition ?? null }
  return { code: 'internal', message: error instanceof Error ? error.message : String(error), hint: null, condition: null }
}

/** What `errorJson` wrote for the newest run; null when it is not that. */
export function parseStatusError(text: string | null): StatusError | null {
  if (text === null) return null
  try {
    const { code, message, hint, condition } = JSON.parse(text) as StatusError
    return typeof code === 'string' && typeof message === 'string' ? { code, message, hint: hint ?? null, condition: condition ?? null } : null
  } catch {
    return null
  }
}
