/** A cast, played on a terminal, shows what the run showed; and there is nothing in it that was not shown. */
import { existsSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { type GrowingFile, realEffects } from '../../src/effects.js'
import { openRecorder } from '../../src/tui/open-recorder.js'
import { duplicated, hostile, killedAt, modelWith } from './models.js'
import { eventsOf, playedBack, recorded, temporaryFolder } from './recorded-run.js'

const ESCAPE = '\u001b'
const SIZE = { columns: 80, rows: 24 }

describe('a cast that is played ends in the last screen of the run', () => {
  test.each([
    ['a kill and what came of it', [modelWith, () => killedAt('table-committed'), duplicated]],
    ['hostile texts', [hostile]],
  ])('%s', async (_, models) => {
    const { cast, frames } = await recorded(async ({ show, clock }) => {
      for (const model of models) {
        show(model())
        await clock.advance(1_500)
      }
    })
    expect(await playedBack(cast)).toBe(frames.at(-1))
  })

  test('also when the terminal became larger and smaller meanwhile', async () => {
    const { cast, frames } = await recorded(async ({ show, resize, clock }) => {
      show(modelWith())
      for (const size of [
        { columns: 120, rows: 40 },
        { columns: 70, rows: 20 },
      ]) {
        await clock.advance(1_000)
        resize(size)
      }
      await clock.advance(1_000)
    })
    expect(eventsOf(cast).flatMap(([, code, data]) => (code === 'r' ? [data] : []))).toEqual(['120x40', '70x20'])
    expect(await playedBack(cast)).toBe(frames.at(-1))
  })

  test('and at each event before it shows a screen of the run', async () => {
    const { cast, frames } = await recorded(async ({ show, clock }) => {
      for (const model of [modelWith(), killedAt('mid-write'), duplicated()]) {
        show(model)
        await clock.advance(400)
      }
    })
    const count = eventsOf(cast).length
    for (let until = 2; until <= count; until++) expect(frames).toContain(await playedBack(cast, until))
  })
})

test('the header says the size, the beginning and the title, and nothing of the machine', async () => {
  const { cast } = await recorded(async () => {})
  const { theme, ...header } = JSON.parse(cast.slice(0, cast.indexOf('\n')))
  expect(header).toEqual({ version: 2, width: 80, height: 24, timestamp: 0, title: 'A <run> & "more"', env: { TERM: 'xterm-256color' } })
  expect(theme.palette.split(':')).toHaveLength(16)
})

test('captions are markers, in order, each on one line', async () => {
  const { cast } = await recorded(async ({ recorder, clock }) => {
    for (const text of ['Nine events\n  arrive.', 'We \u001b[2Jkill.', 'x'.repeat(200)]) {
      recorder.chapter(text, text, clock.nowMs)
      await clock.advance(100)
    }
  })
  expect(eventsOf(cast).flatMap(([, code, data]) => (code === 'm' ? [data] : []))).toEqual(['Nine events arrive.', 'We ␛[2Jkill.', `${'x'.repeat(79)}…`])
})

test('a minute in which nothing happens is two seconds', async () => {
  const { cast } = await recorded(async ({ show, clock }) => {
    show(modelWith())
    await clock.advance(60_000)
    show(duplicated())
    await clock.advance(1_000)
  })
  const times = eventsOf(cast).map(([seconds]) => seconds)
  expect(times.at(-1)).toBeLessThan(6)
  expect(times).toEqual([...times].sort((a, b) => a - b))
})

test('no control sequence is in it that the dashboard does not write', async () => {
  const { cast } = await recorded(async ({ show, recorder, clock }) => {
    show(hostile())
    recorder.chapter('\u009b2J\u001b]0;owned\u0007', '', clock.nowMs)
    await clock.advance(500)
  })
  // SGR, cursor position, clearing, and the private modes of wrapping, cursor and synchronized output.
  const known = new RegExp(`${ESCAPE}\\[(?:[0-9;]*m|[0-9;]*H|2?[JK]|\\?(?:7|25|2026)[hl])`, 'g')
  for (const [, code, data] of eventsOf(cast)) expect(code === 'o' ? data.replace(known, '') : data).not.toMatch(/[\p{Cc}\p{Cf}]/u)
})

describe('the file', () => {
  const open = (cast: string, fx = realEffects) => {
    const recorder = openRecorder({ cast, svg: undefined, title: 't', theme: null, environment: {} }, () => {}, fx)
    if (recorder === null) throw new Error('nothing is recorded')
    return recorder
  }

  test('is for its owner alone, and holds every event at once', () => {
    const cast = join(temporaryFolder(), 'a.cast')
    const recorder = open(cast)
    recorder.began(SIZE, 0)
    recorder.wrote('one', 10)
    expect(statSync(cast).mode & 0o777).toBe(0o600)
    expect(eventsOf(readFileSync(cast, 'utf8')).at(-1)).toEqual([0.01, 'o', 'one'])
    recorder.close()
  })

  test('is never written over', () => {
    const cast = join(temporaryFolder(), 'a.cast')
    writeFileSync(cast, 'mine')
    expect(() => open(cast)).toThrow(`${cast} is there already`)
    expect(readFileSync(cast, 'utf8')).toBe('mine')
  })

  test('needs its folder', () => {
    const folder = temporaryFolder()
    expect(() => open(join(folder, 'x', 'a.cast'))).toThrow(`cannot be made: there is no folder ${join(folder, 'x')}`)
  })

  test('is not left when nothing was shown', () => {
    const cast = join(temporaryFolder(), 'a.cast')
    open(cast).close()
    expect(existsSync(cast)).toBe(false)
  })

  test('that is removed meanwhile ends the recording and nothing else', () => {
    const folder = temporaryFolder()
    const recorder = open(join(folder, 'a.cast'))
    recorder.began(SIZE, 0)
    rmSync(folder, { recursive: true })
    recorder.wrote('more', 10)
    expect(() => recorder.close()).toThrow(`the recording ${join(folder, 'a.cast')} has ended early: the file was removed`)
  })

  test('on a full disk plays up to then', () => {
    const cast = join(temporaryFolder(), 'a.cast')
    let room = 2_000
    const full = (path: string): GrowingFile => {
      const file = realEffects.files.createGrowing(path)
      const append = (text: string) => {
        room -= text.length
        if (room < 0) throw new Error('ENOSPC: no space left on device, write')
        file.append(text)
      }
      return { ...file, append }
    }
    const recorder = open(cast, { ...realEffects, files: { ...realEffects.files, createGrowing: full } })
    recorder.began(SIZE, 0)
    for (let at = 0; at < 100; at++) recorder.wrote('x'.repeat(100), at)
    expect(() => recorder.close()).toThrow(`the recording ${cast} has ended early: ENOSPC: no space left on device, write`)
    expect(eventsOf(readFileSync(cast, 'utf8')).length).toBeGreaterThan(5)
  })
})
