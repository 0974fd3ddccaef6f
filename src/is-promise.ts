/** Whether a value is a promise, or has to be waited for like one: a person's function may give one where an answer is needed at once. */
export function isPromise(value: unknown): boolean {
  return typeof (value as { readonly then?: unknown } | null | undefined)?.then === 'function'
}
