/** How long a recording is: as the screen was, without the pauses in which nothing happens. */
import { expect, test } from 'vitest'
import { isNews } from '../../src/tui/frame-news.js'
import { RecordingClock } from '../../src/tui/recording-clock.js'
import { readingMs } from '../../src/scenario/reading-time.js'

test('what happens within two seconds of what happened before keeps its time', () => {
  const clock = new RecordingClock()
  clock.happened(1_000)
  expect(clock.at(2_500)).toBe(1_500)
  clock.happened(2_500)
  expect(clock.at(4_400)).toBe(3_400)
})

test('a longer pause is two seconds, also when the clock ticks in it', () => {
  const clock = new RecordingClock()
  clock.happened(0)
  for (let second = 1; second <= 60; second++) clock.at(second * 1_000)
  expect(clock.at(60_500)).toBe(2_000)
  clock.happened(60_500)
  expect(clock.at(61_000)).toBe(2_500)
})

test('a caption stays as long as reading it takes, and no longer', () => {
  const text = 'x'.repeat(150)
  const clock = new RecordingClock()
  clock.read(text, 0)
  clock.happened(500)
  expect(clock.at(60_000)).toBe(readingMs(text, 1))
  expect(readingMs(text, 1)).toBe(11_000)
})

test('a clock that is set back stands still for a moment and then goes on', () => {
  const clock = new RecordingClock()
  clock.happened(100_000)
  expect([clock.at(100_500), clock.at(40_000), clock.at(40_300), clock.at(99_000)]).toEqual([500, 500, 800, 2_000])
})

const line = (text: string) => [{ text, tone: 'text' as const }]

test.each([
  ['the same', ['12:00:00', 'a'], ['12:00:01', 'a'], false],
  ['an age', ['', '── dead ──── pid 7, 9 s ago ──'], ['', '── dead ─── pid 7, 10 s ago ──'], false],
  ['another word', ['12:00:00', 'a 1'], ['12:00:00', 'a 2'], true],
  ['a line more', ['', 'a'], ['', 'a', ''], true],
])('%s', (_, before, after, news) => {
  expect(isNews(before.map(line), after.map(line))).toBe(news)
})

test('the first frame is news', () => {
  expect(isNews(null, [])).toBe(true)
})
