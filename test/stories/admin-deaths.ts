/** Every death of a verb, every recovery from it, and the deaths of the recovery itself. */
import { SEED } from '../seed.js'
import type { AdminCase } from './admin-cases.js'
import { type Death, deathsOf } from './deaths.js'
import { newStory, type Story } from './workspace.js'

export interface Outcome {
  readonly deaths: number
  /** Lives after a death that were judged. */
  readonly recoveries: number
  readonly wrong: readonly { readonly at: string; readonly recovery: string; readonly found: readonly string[] }[]
}

export interface HowMany {
  /** All deaths unless given. */
  readonly deaths?: number
  /** Of so many of them the verb is called again and dies again, at each of its points. */
  readonly deadAgain: number
}

/** @param begin gives an empty story */
export async function judgeDeaths(one: AdminCase, { deaths: most = Number.POSITIVE_INFINITY, deadAgain }: HowMany, begin: () => Story): Promise<Outcome> {
  const story = begin()
  await one.prepare(story)
  const all = await deathsOfVerb(one, story, begin)
  const deaths = sample(all, most, one.verb)
  const again: Death[] = []
  for (const { at, story: left } of sample(deaths, deadAgain, `${one.verb}, again`)) {
    const copy = newStory(left)
    for (const death of await deathsOfVerb(one, copy, begin)) again.push({ ...death, at: `${at}, then ${death.at}` })
    copy.remove()
  }
  const wrong: Outcome['wrong'][number][] = []
  let recoveries = 0
  for (const { at, story: left } of [...deaths, ...again]) {
    for (const [recovery, recover] of Object.entries(one.recoveries)) {
      recoveries++
      const copy = newStory(left)
      const found = await judged(copy, recover, one)
      if (found.length > 0) wrong.push({ at, recovery, found })
      copy.remove()
    }
    left.remove()
  }
  return { deaths: all.length + again.length, recoveries, wrong }
}

function deathsOfVerb({ work }: AdminCase, story: Story, begin: () => Story): Promise<Death[]> {
  return deathsOf(
    story,
    async (points) => {
      await work(story, points).catch((error: { readonly code?: string }) => {
        // After its death `replay` may have nothing to do, and says so.
        if (error.code !== 'usage') throw error
      })
      points.point('the end')
    },
    () => {},
    begin,
  )
}

async function judged(story: Story, recover: (story: Story) => Promise<void>, { check }: AdminCase): Promise<readonly string[]> {
  try {
    await recover(story)
    return await check(story)
  } catch (error) {
    return [(error as Error).stack ?? String(error)]
  }
}

/** So many of them, drawn by the seed. */
function sample<T>(all: readonly T[], most: number, name: string): T[] {
  if (all.length <= most) return [...all]
  let state = [...`${SEED} ${name}`].reduce((hash, character) => (Math.imul(hash, 31) + character.charCodeAt(0)) >>> 0, 7)
  const left = [...all]
  return Array.from({ length: most }, () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return left.splice(state % left.length, 1)[0] as T
  })
}
