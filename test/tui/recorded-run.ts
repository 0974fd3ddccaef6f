/** The dashboard on an unseen terminal, on a clock that the test moves, with what is recorded of it. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Terminal } from '@xterm/headless'
import { onTestFinished } from 'vitest'
import { realEffects } from '../../src/effects.js'
import type { Frame, Size } from '../../src/tui/line.js'
import type { Model } from '../../src/tui/model.js'
import { openDashboard } from '../../src/tui/open-dashboard.js'
import { openRecorder } from '../../src/tui/open-recorder.js'
import { textOf } from '../../src/tui/paint.js'
import type { ScreenRecorder } from '../../src/tui/screen-recorder.js'
import { unseenTerminal } from '../../src/tui/unseen-terminal.js'
import { FakeSession } from './fake-session.js'
import { ManualClock } from './manual-clock.js'

export interface RecordedRun {
  readonly recorder: ScreenRecorder
  readonly clock: ManualClock
  /** Shows what a model holds. */
  show(model: Model): void
  resize(size: Size): void
}

export interface Recorded {
  readonly cast: string
  readonly svg: string
  readonly warnings: readonly string[]
  /** Every frame that was drawn, as text. */
  readonly frames: readonly string[]
}

export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'streamtop-record-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

/** Begins at `beginMs`, does what the test does, and quits. */
export async function recorded(work: (run: RecordedRun) => Promise<void>, size: Size = { columns: 80, rows: 24 }): Promise<Recorded> {
  const folder = temporaryFolder()
  const [cast, svg] = [join(folder, 'a.cast'), join(folder, 'a.svg')]
  const [warnings, frames]: [string[], string[]] = [[], []]
  const clock = new ManualClock()
  const fx = clock.effects(realEffects)
  const inner = openRecorder({ cast, svg, title: 'A <run> & "more"', theme: 'default', environment: {} }, (sentence) => warnings.push(sentence), fx)
  if (inner === null) throw new Error('nothing is recorded')
  const recorder: ScreenRecorder = {
    ...inner,
    drew(frame, ...told) {
      frames.push(pictureOf(frame))
      inner.drew(frame, ...told)
    },
  }
  const session = new FakeSession()
  const streams = unseenTerminal(size)
  const end = new AbortController()
  const ended = openDashboard({ theme: 'default', isAscii: false, environment: {}, streams, recorder, open: async () => session.opened }, end.signal, fx)
  await clock.advance(0)
  await work({
    recorder,
    clock,
    show({ state, view, log }) {
      if (state) session.tell({ kind: 'state', state })
      if (view) session.tell({ kind: 'view', view })
      for (const entry of log) session.tell({ kind: 'log', entry })
    },
    resize({ columns, rows }) {
      Object.assign(streams.stdout, { columns, rows })
      streams.stdout.emit('resize')
    },
  })
  end.abort()
  await clock.advance(1_000)
  await ended
  return { cast: readFileSync(cast, 'utf8'), svg: readFileSync(svg, 'utf8'), warnings, frames }
}

export function pictureOf(frame: Frame): string {
  return frame.map(textOf).join('\n')
}

export type CastEvent = readonly [seconds: number, code: 'o' | 'r' | 'm', data: string]

export function eventsOf(cast: string): CastEvent[] {
  return cast
    .trimEnd()
    .split('\n')
    .slice(1)
    .map((line) => JSON.parse(line) as CastEvent)
}

/** What a terminal shows when a cast has been played on it, up to an event. */
export async function playedBack(cast: string, until = eventsOf(cast).length): Promise<string> {
  const { width, height } = JSON.parse(cast.slice(0, cast.indexOf('\n'))) as { width: number; height: number }
  const screen = new Terminal({ cols: width, rows: height, allowProposedApi: true })
  for (const [, code, data] of eventsOf(cast).slice(0, until)) {
    if (code === 'r') screen.resize(...(data.split('x').map(Number) as [number, number]))
    if (code === 'o') await new Promise<void>((resolve) => screen.write(data, resolve))
  }
  const { active } = screen.buffer
  return Array.from(
    { length: screen.rows },
    (_, row) =>
      active
        .getLine(active.baseY + row)
        ?.translateToString(true)
        .trimEnd() ?? '',
  ).join('\n')
}
