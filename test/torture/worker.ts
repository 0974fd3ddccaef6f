/** Plays the schedules that its parent sends, one after the other, and answers with what came of each. */
import { type PlayOptions, type Played, playSchedule } from './play-schedule.js'
import { scheduleOf } from './schedule.js'
import { Died } from './watched-life.js'

export interface Order {
  readonly seed: number
  readonly number: number
  /** Acts to do; all unless given. */
  readonly only?: readonly number[]
  readonly keep?: boolean
}

export interface Answer extends Played {
  readonly number: number
  readonly tookMs: number
}

// What a dead life has left to do is nobody's error.
process.on('unhandledRejection', (error) => {
  if (!(error instanceof Died)) throw error
})

process.on('message', async ({ seed, number, only, keep = false }: Order) => {
  const startedMs = performance.now()
  const options: PlayOptions = { ...(only ? { only: new Set(only) } : {}), keep }
  const played = await playSchedule(scheduleOf(seed, number), options)
  const answer: Answer = { ...played, number, tookMs: performance.now() - startedMs }
  process.send?.(answer)
})
