/** What test tools import of vitest, where a bundle runs them outside of it. */
export function afterEach(): void {}

export function expect(): never {
  throw new Error('there is no vitest here to expect anything')
}
