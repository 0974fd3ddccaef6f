/** A picture that moves: what a viewer sees at each moment is what the run showed, and the document is whole and small. */
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type Effects, realEffects } from '../../src/effects.js'
import { safeText } from '../../src/safe-text.js'
import { animatedSvgOf, type TimedFrame } from '../../src/tui/animated-svg.js'
import { FrameReel } from '../../src/tui/frame-reel.js'
import type { Frame } from '../../src/tui/line.js'
import { openRecorder } from '../../src/tui/open-recorder.js'
import { themeNamed } from '../../src/tui/theme.js'
import { loadWidths } from '../../src/tui/width.js'
import { SEED } from '../seed.js'
import { duplicated, hostile, killedAt, modelWith } from './models.js'
import { movingPicture, whyNoXml } from './moving-picture.js'
import { pictureOf, recorded, temporaryFolder } from './recorded-run.js'

await loadWidths()
const DARK = themeNamed('default', 'dark')
const SIZE = { columns: 80, rows: 3 }

describe('a run', () => {
  const story = () =>
    recorded(async ({ show, recorder, clock }) => {
      recorder.chapter('Death', 'A batch dies & is run again.', clock.nowMs)
      for (const model of [modelWith(), killedAt('table-committed'), duplicated()]) {
        show(model)
        await clock.advance(1_500)
      }
    })

  test('shows at each moment a screen that was shown, in their order, and in the end the last', async () => {
    const { svg, frames } = await story()
    const picture = movingPicture(svg)
    const shown = picture.momentsMs.map((atMs) => frames.lastIndexOf(picture.textAt(atMs)))
    expect(shown).not.toContain(-1)
    expect(shown).toEqual([...shown].sort((a, b) => a - b))
    expect(picture.textAt(picture.durationMs)).toBe(frames.at(-1))
    for (const seen of ['KILLED', 'duplicated', 'exactly once']) expect(picture.momentsMs.map(picture.textAt).join('\n')).toContain(seen)
  })

  test('shows who wants no motion the last screen', async () => {
    const { svg, frames } = await story()
    expect(movingPicture(svg).textAt(null)).toBe(frames.at(-1))
    expect(svg).toContain('@media (prefers-reduced-motion:reduce){.m{animation:none!important}}')
  })

  test('begins anew after three seconds, has what it is about in words, and holds nothing that runs or is loaded', async () => {
    const { svg } = await story()
    expect(movingPicture(svg).durationMs).toBeLessThan(4_500 + 2_000 + 3_000)
    expect(svg).toMatch(/\.m\{animation:[\d.]+s step-end infinite\}/)
    expect(svg).toContain('<title>A &lt;run&gt; &amp; "more"</title>\n<desc>A batch dies &amp; is run again.</desc>')
    expect(svg).not.toMatch(/<script|\bon\w+=|javascript:|@import|url\(|href="[^#]|<!|<\?/)
  })

  test('that is hostile is drawn as text', async () => {
    const { svg, frames } = await recorded(async ({ show, clock }) => {
      show(hostile())
      await clock.advance(1_000)
    })
    expect(whyNoXml(svg)).toBeNull()
    expect(movingPicture(svg).textAt(null)).toBe(frames.at(-1))
    expect(svg.replaceAll('\n', '')).not.toMatch(/[\p{Cc}\p{Cf}]/u)
  })
})

test('reverse is a box in the colour of the tone behind its cells', () => {
  const frame: Frame = [
    [
      { text: 'a ', tone: 'text' },
      { text: ' 6 ', tone: 'alarm' },
    ],
  ]
  const svg = animatedSvgOf({ title: 't', chapters: [], frames: [timed(frame, 0)], durationMs: 1_000 })
  expect(svg).toContain('<rect class="s0" x="18" y="-14" width="27" height="19"/><use href="#w0" x="0"/><use href="#w1" x="27" class="s1"/>')
  expect(svg).toContain('.s0{fill:#e6b450}\n.s1{fill:#14181d;font-weight:bold}')
})

describe('any frames', () => {
  const line = fc.array(
    fc.record({
      text: fc.oneof(fc.string({ unit: 'grapheme' }), fc.constantFrom('<b>', 'a & b', ']]>', '"\'&lt;', '\ufffe')).map((text) => safeText(text)),
      tone: fc.constantFrom('text', 'alarm', 'dead'),
    }),
    {
      maxLength: 3,
    },
  )
  const reel = fc.array(fc.array(line, { minLength: 3, maxLength: 3 }), { minLength: 1, maxLength: 5 })

  test('are each seen at their moment, the first from the beginning on', () => {
    fc.assert(
      fc.property(reel, fc.nat(499), (frames: readonly Frame[], lateMs) => {
        // A dashboard needs a moment for its first frame.
        const shown = frames.map((frame, index) => timed(frame, index, index * 1_000 + lateMs))
        const svg = animatedSvgOf({ title: 't', chapters: [], frames: shown, durationMs: frames.length * 1_000 })
        expect(whyNoXml(svg)).toBeNull()
        const picture = movingPicture(svg)
        for (const [index, frame] of frames.entries()) expect(blanksAlike(picture.textAt(index * 1_000 + 500))).toBe(blanksAlike(pictureOf(frame)))
        expect(blanksAlike(picture.textAt(0))).toBe(blanksAlike(pictureOf(frames[0] as Frame)))
      }),
      { seed: SEED },
    )
  })
})

describe('a reel', () => {
  const frameAt = (atMs: number): TimedFrame => timed([[{ text: String(atMs), tone: 'text' }]], 0, atMs)

  test('has three frames a second, each the newest of its time', () => {
    const reel = new FrameReel()
    for (let atMs = 0; atMs < 1_000; atMs += 10) reel.add(frameAt(atMs))
    expect(reel.frames.map(({ atMs, frame }) => [atMs, frame[0]?.[0]?.text])).toEqual([
      [0, '330'],
      [340, '670'],
      [680, '990'],
    ])
  })

  test('that goes on for ever keeps 600 frames at most, among them the newest', () => {
    const reel = new FrameReel()
    for (let second = 0; second <= 3_000; second++) reel.add(frameAt(second * 1_000))
    expect(reel.frames.length).toBeLessThanOrEqual(600)
    expect(reel.frames.length).toBeGreaterThan(200)
    expect(reel.frames.at(-1)?.frame[0]?.[0]?.text).toBe('3000000')
  })
})

test('what would be too large for a page has fewer frames, and that is said', async () => {
  const svg = join(temporaryFolder(), 'a.svg')
  const warnings: string[] = []
  const recorder = openRecorder({ cast: undefined, svg, title: 't', theme: null, environment: {} }, (sentence) => warnings.push(sentence), realEffects)
  for (let second = 0; second < 75; second++) {
    const frame = Array.from({ length: 40 }, (_, row) => [
      { text: `${second}a${row} ${second}b${row} ${second}c${row} ${second}d${row} ${second}e${row}`, tone: 'text' as const },
    ])
    recorder?.drew(frame, { columns: 80, rows: 40 }, DARK, second * 1_000)
  }
  recorder?.close()
  expect(readFileSync(svg, 'utf8').length).toBeLessThan(1024 * 1024)
  expect(warnings).toEqual([expect.stringMatching(/a\.svg has a frame every \d\.\d s: with more of them it would be too large for a page$/)])
})

test('a file that is there already is left, and so is none that was begun beside it', () => {
  const folder = temporaryFolder()
  const [cast, svg] = [join(folder, 'a.cast'), join(folder, 'a.svg')]
  writeFileSync(svg, 'mine')
  const open = () => openRecorder({ cast, svg, title: 't', theme: null, environment: {} }, () => {}, realEffects)
  expect(open).toThrow(`${svg} is there already`)
  expect(open).toThrow(`${svg} is there already`)
  expect(readFileSync(svg, 'utf8')).toBe('mine')
})

describe('a picture that cannot be written', () => {
  const shown = (svg: string, fx: Effects) => {
    const recorder = openRecorder({ cast: undefined, svg, title: 't', theme: null, environment: {} }, () => {}, fx)
    recorder?.drew([[{ text: 'x', tone: 'text' }]], SIZE, DARK, 0)
    return () => recorder?.close()
  }

  test('because the disk is full is not left in part', () => {
    const svg = join(temporaryFolder(), 'a.svg')
    const full = (path: string) => ({
      ...realEffects.files.createGrowing(path),
      append() {
        throw new Error('ENOSPC: no space left on device, write')
      },
    })
    const close = shown(svg, { ...realEffects, files: { ...realEffects.files, createGrowing: full } })
    expect(close).toThrow(`the recording ${svg} has ended early: ENOSPC: no space left on device, write`)
    expect(existsSync(svg)).toBe(false)
  })

  test('because its folder has gone is said', () => {
    const folder = temporaryFolder()
    const close = shown(join(folder, 'a.svg'), realEffects)
    rmSync(folder, { recursive: true })
    expect(close).toThrow(`cannot be made: there is no folder ${folder}`)
  })
})

function timed(frame: Frame, index: number, atMs = index * 1_000): TimedFrame {
  return { atMs, frame, size: SIZE, theme: DARK }
}

/** Marks without a width are drawn with the word before them, and blanks at the end are not drawn. */
function blanksAlike(text: string): string {
  return text
    .replace(/ +/g, ' ')
    .replace(/[^\S\n]+$/gm, '')
    .replace(/[\ufffe\uffff]/g, '\ufffd')
}
