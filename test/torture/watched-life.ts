/** One life whose calls are watched: a reader looks before some of them, and before one of them it dies. */
import { watchCalls } from './system-calls.js'

/** What a dead life stumbles over. */
export class Died extends Error {}

export interface Watched {
  /** Before the n-th call, counted from 1, the life dies; null for a life that does not. */
  readonly dieAt: number | null
  /** Before these calls `look` is called. */
  readonly looks: ReadonlySet<number>
  look(): void
  /** Lets go of what the life holds, as its death does. */
  letGo(): void
}

export interface WatchedLife {
  /** The call that it died before; null while it lives. */
  readonly diedBefore: string | null
}

/** Watches calls until the next life begins or `nobodyLives` is called: a dead life can change nothing any more. */
export function watchLife({ dieAt, looks, look, letGo }: Watched, shortened: (path: string) => string): WatchedLife {
  let calls = 0
  const life: { diedBefore: string | null } = { diedBefore: null }
  const watch = (call: string, path: string): void => {
    if (life.diedBefore !== null) throw new Died()
    calls++
    if (looks.has(calls)) {
      watchCalls((changing, what) => {
        throw new Error(`a reader changes something: ${changing} ${what}`)
      })
      try {
        look()
      } finally {
        watchCalls(watch)
      }
    }
    if (calls !== dieAt) return
    life.diedBefore = `${call} ${shortened(path)}`
    letGo()
    throw new Died()
  }
  watchCalls(watch)
  return life
}

/** From here on calls are nobody's. */
export function nobodyLives(): void {
  watchCalls(() => {})
}
