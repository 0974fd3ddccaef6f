import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { realEffects } from '../../src/effects.js'
import { nextOrders } from '../../src/queries/order-generator.js'
import { claimRecords } from '../../src/topic/kafka-generator-state.js'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'streamtop-'))
})
afterEach(() => rmSync(folder, { recursive: true }))

const values = (records: readonly { value: Uint8Array | null }[]) => records.map(({ value }) => Buffer.from(value ?? []).toString())

it('goes on where it was, for each topic by itself, and keeps one file or two', () => {
  const claim = (topic: string) => values(claimRecords(folder, topic, (state) => nextOrders(state, 1, 3), realEffects))
  const [first, second, other] = [claim('a'), claim('a'), claim('b')]
  expect(new Set([...first, ...second]).size).toBe(6)
  expect(other).toEqual(first)
  for (let again = 0; again < 5; again++) claim('a')
  expect(readdirSync(join(folder, '.generators', 'a')).length).toBeLessThanOrEqual(2)
})

it('somebody who claims in between gets other records', () => {
  let inBetween: string[] = []
  const mine = claimRecords(
    folder,
    'a',
    (state) => {
      if (inBetween.length === 0) inBetween = values(claimRecords(folder, 'a', (other) => nextOrders(other, 1, 3), realEffects))
      return nextOrders(state, 1, 3)
    },
    realEffects,
  )
  expect(new Set([...inBetween, ...values(mine)]).size).toBe(6)
})
