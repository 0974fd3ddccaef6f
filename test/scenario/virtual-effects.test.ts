/** A world that is the same each time. */
import { expect, test } from 'vitest'
import { realEffects } from '../../src/effects.js'
import { virtualEffects } from '../../src/scenario/virtual-effects.js'

test('who waits shorter wakes first, and time has passed by then', async () => {
  const fx = virtualEffects('1', realEffects)
  const woken: [string, number][] = []
  const sleep = async (name: string, durationMs: number) => {
    await fx.sleep(durationMs)
    woken.push([name, fx.monotonicMs()])
  }
  await Promise.all([sleep('long', 5_000), sleep('short', 10).then(() => sleep('again', 90)), sleep('nothing', 0)])
  expect(woken).toEqual([
    ['nothing', 0],
    ['short', 10],
    ['again', 100],
    ['long', 5_000],
  ])
  expect(fx.nowMs() - virtualEffects('1', realEffects).nowMs()).toBe(5_000)
})

test.each([3, 7, 11])('who sleeps for what is left comes to an end, also when the clock stands at a fraction of %i', async (parts) => {
  const fx = virtualEffects('1', realEffects)
  await fx.sleep(24_634 / parts)
  for (let wait = 0; wait < 20; wait++) {
    const beganMs = fx.monotonicMs()
    let sleeps = 0
    for (let left = 150; left > 0; left = 150 - (fx.monotonicMs() - beganMs)) {
      await fx.sleep(left)
      sleeps += 1
      expect(sleeps).toBeLessThan(5)
    }
  }
})

test('who is called wakes at once, and no time has passed', async () => {
  const fx = virtualEffects('1', realEffects)
  const call = new AbortController()
  const slept = fx.sleep(60_000, call.signal)
  call.abort()
  await slept
  await fx.sleep(1_000, call.signal)
  expect(fx.monotonicMs()).toBe(0)
})

test('a seed gives the same ids, another seed others', () => {
  const ids = (seed: string) => {
    const fx = virtualEffects(seed, realEffects)
    return [fx.randomUuid(), fx.randomUuid(), Buffer.from(fx.randomBytes(40)).toString('hex')]
  }
  expect(ids('a')).toEqual(ids('a'))
  expect(new Set([...ids('a'), ...ids('b')]).size).toBe(6)
  for (const id of ids('a').slice(0, 2)) expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
})
