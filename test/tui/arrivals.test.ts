/** Arrivals at a topic that was there before anybody looked. */
import { expect, test } from 'vitest'
import type { TopicStatus } from '../../src/observe/status.js'
import { countArrivals } from '../../src/tui/arrivals.js'
import { workspaceView } from './reducer-models.js'

function viewOf(takenAtMs: number, kind: TopicStatus['kind'], end: string | null) {
  const view = workspaceView(0, 0)
  const topics: TopicStatus[] = end === null ? [] : [{ name: 'orders', kind, partitions: 1, endOffsets: { 0: end } }]
  return { ...view, takenAtMs, status: { ...view.status, topics } }
}

test('what a topic on Kafka holds when it is first heard of has not arrived now; what one of the workspace holds has', () => {
  const counted = (kind: TopicStatus['kind']) => {
    const [nothing, known, more] = [viewOf(1_000, kind, null), viewOf(1_500, kind, '4000000'), viewOf(1_900, kind, '4000003')]
    const first = countArrivals([], nothing, known)
    return [first, countArrivals(first, known, more)]
  }
  expect(counted('kafka')).toEqual([[0], [3]])
  expect(counted('embedded')).toEqual([[4_000_000], [4_000_003]])
})
