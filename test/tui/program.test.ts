/** The dashboard without a screen, on a clock that the test moves. */
import { describe, expect, test } from 'vitest'
import { realEffects } from '../../src/effects.js'
import { StreamtopError } from '../../src/errors.js'
import type { Model } from '../../src/tui/model.js'
import { Program, type ProgramSession } from '../../src/tui/program.js'
import { FakeSession, OWNER } from './fake-session.js'
import { ManualClock, settled } from './manual-clock.js'

describe('frames', () => {
  test('the first is drawn before anything is opened', () => {
    const began: string[] = []
    const { program, frames } = begin(new FakeSession(), async () => {
      began.push(`opened after ${frames.length} frames`)
      return new FakeSession().opened
    })
    program.start()
    expect(began).toEqual(['opened after 1 frames'])
    expect(frames[0]?.model.state).toBeNull()
  })

  test('a hundred events a second are seven frames, and the last one shows them all', async () => {
    const { frames, session, clock } = await opened()
    const before = frames.length
    for (let number = 1; number <= 100; number++) {
      session.log(`event ${number}`)
      await clock.advance(10)
    }
    expect(frames.length - before).toBe(7)
    await clock.advance(200)
    expect(frames.at(-1)?.model.log).toHaveLength(100)
  })

  test('what a key does is drawn at once', async () => {
    const { program, frames, session, clock } = await opened()
    session.log('an event')
    await clock.advance(40)
    const before = frames.length
    program.press({ name: 'down' })
    expect(frames).toHaveLength(before + 1)
    expect(frames.at(-1)?.model.selected).toBe('events_copy')
  })

  test('a key that changes nothing draws nothing', async () => {
    const { program, frames, clock } = await opened()
    const before = frames.length
    program.press({ name: 'f11' })
    await clock.advance(400)
    expect(frames).toHaveLength(before)
  })

  test('the clock ticks with the seconds; when all is paused no timer runs and no frame is drawn', async () => {
    const { frames, session, clock } = await opened()
    await clock.advance(5_000)
    expect(new Set(frames.slice(-5).map(({ model }) => model.nowMs % 1_000))).toEqual(new Set([0]))
    session.tell({ kind: 'state', state: { ...OWNER, isPaused: true } })
    await clock.advance(1_000)
    const before = frames.length
    await clock.advance(3_600_000)
    expect({ drawn: frames.length - before, timers: clock.timerCount }).toEqual({ drawn: 0, timers: 0 })
    session.tell({ kind: 'state', state: OWNER })
    await clock.advance(2_000)
    expect(frames.at(-1)?.model.nowMs).toBe(Math.floor(clock.nowMs / 1_000) * 1_000)
  })
})

describe('after a pause', () => {
  test('what a key does is timed by the clock and not by the beginning of the pause', async () => {
    const { program, session, clock } = await opened()
    session.tell({ kind: 'state', state: { ...OWNER, isPaused: true } })
    await clock.advance(3_600_000)
    program.press({ name: 'down' })
    expect(program.model.nowMs).toBe(clock.nowMs)
  })
})

describe('what is asked for', () => {
  test('goes to the session, and the answer is shown', async () => {
    const { program, frames, session, clock } = await opened()
    program.press({ name: 'K' })
    await clock.advance(100)
    expect(session.asked.at(-1)).toBe('K: kill bronze_orders')
    expect(frames.at(-1)?.model.message).toMatchObject({ kind: 'done', text: 'kill is done' })
  })

  test('a refusal is shown with what to do', async () => {
    const { program, frames, session, clock } = await opened()
    session.answer = () => Promise.reject(new StreamtopError('concurrent-query', 'another process runs it', { hint: 'stop that first' }))
    program.press({ name: 'r' })
    await clock.advance(100)
    expect(frames.at(-1)?.model.message).toMatchObject({ kind: 'refused', text: 'another process runs it; stop that first' })
  })

  test('a picture in a folder that is not there is refused with what to do', async () => {
    const { program, frames, clock } = await opened()
    for (const name of [':', ...'picture /not-there/at-all.svg']) program.press({ name: name === ' ' ? 'space' : name })
    program.press({ name: 'enter' })
    await clock.advance(100)
    expect(frames.at(-1)?.model.message).toMatchObject({
      kind: 'refused',
      text: '/not-there/at-all.svg cannot be made: there is no folder /not-there; name a file in a folder that is there and that you may write to',
    })
  })

  test('the rows of a table are read and shown', async () => {
    const { program, frames, clock } = await opened()
    program.press({ name: 't' })
    await clock.advance(100)
    expect(frames.at(-1)?.model.screen).toMatchObject({ kind: 'rows', table: 'bronze_orders', content: { rows: [['1001']] } })
  })
})

describe('the end', () => {
  test('quit closes the session, and then nothing runs', async () => {
    const { program, session, clock } = await opened()
    program.press({ name: 'q' })
    await expect(program.ended).resolves.toBeUndefined()
    expect({ isClosed: session.isClosed, listeners: session.listenerCount, timers: clock.timerCount }).toEqual({ isClosed: true, listeners: 0, timers: 0 })
  })

  test('asked to end while it opens, it closes what was opened', async () => {
    let open: (session: ProgramSession) => void = () => {}
    const session = new FakeSession()
    const { program } = begin(session, () => new Promise((resolve) => (open = resolve)))
    program.start()
    program.quit()
    open(session.opened)
    await program.ended
    expect(session.isClosed).toBe(true)
  })

  test('asked to end while it opens, it does not wait for a configuration that never comes to an end', async () => {
    const { program, clock } = begin(new FakeSession(), () => new Promise(() => {}))
    program.start()
    let hasEnded = false
    void program.ended.then(() => {
      hasEnded = true
    })
    program.press({ name: 'q' })
    await clock.advance(2_900)
    expect(hasEnded).toBe(false)
    await clock.advance(200)
    expect({ hasEnded, timers: clock.timerCount }).toEqual({ hasEnded: true, timers: 0 })
  })

  test('a second ctrl-c kills what runs, and it has ended when that is gone: a workspace is removed then', async () => {
    const { program, session, clock } = await opened()
    let close: () => void = () => {}
    session.mayClose = new Promise((resolve) => (close = resolve))
    let hasEnded = false
    void program.ended.then(() => {
      hasEnded = true
    })
    program.press({ name: 'ctrl-c' })
    await settled()
    program.press({ name: 'ctrl-c' })
    await settled()
    expect({ isHurried: session.isHurried, hasEnded }).toEqual({ isHurried: true, hasEnded: false })
    close()
    await program.ended
    expect({ isClosed: session.isClosed, timers: clock.timerCount }).toEqual({ isClosed: true, timers: 0 })
  })

  test('a second ctrl-c while it opens: what opens is told that nobody waits, and it has ended when that is gone', async () => {
    let over: AbortSignal | null = null
    let giveUp: () => void = () => {}
    const { program, clock } = begin(new FakeSession(), (signal) => {
      over = signal
      return new Promise((_, reject) => {
        giveUp = () => reject(new Error('given up'))
      })
    })
    program.start()
    for (const isOver of [false, true]) {
      program.press({ name: 'ctrl-c' })
      await settled()
      expect(over).toMatchObject({ aborted: isOver })
    }
    giveUp()
    await expect(program.ended).resolves.toBeUndefined()
    expect(clock.timerCount).toBe(0)
  })

  test.each([
    ['a second ctrl-c does not wait long for what hangs', 2, 1_000],
    ['a third one not at all', 3, 0],
  ])('%s', async (_, times, laterMs) => {
    const { program, session, clock } = await opened()
    session.mayClose = new Promise(() => {})
    for (let time = 0; time < times; time++) {
      program.press({ name: 'ctrl-c' })
      await settled()
    }
    await clock.advance(laterMs)
    await expect(program.ended).resolves.toBeUndefined()
  })

  test('what cannot be opened is the end, and says why', async () => {
    const { program } = begin(new FakeSession(), () => Promise.reject(new StreamtopError('bad-config', 'the configuration throws')))
    program.start()
    await expect(program.ended).rejects.toThrow('the configuration throws')
  })

  test('a picture that cannot be drawn closes the session and is said', async () => {
    const session = new FakeSession()
    const { program, host, clock } = begin(session, async () => session.opened)
    program.start()
    await clock.advance(500)
    host.draw = () => {
      throw new Error('cannot be drawn')
    }
    program.press({ name: 'down' })
    await expect(program.ended).rejects.toThrow('cannot be drawn')
    expect(session.isClosed).toBe(true)
  })
})

function begin(session: FakeSession, open: (over: AbortSignal) => Promise<ProgramSession>) {
  const clock = new ManualClock()
  const frames: { readonly atMs: number; readonly model: Model }[] = []
  const host = {
    size: { columns: 80, rows: 24 },
    draw: (model: Model) => void frames.push({ atMs: clock.nowMs, model }),
    theme: () => {},
    picture: () => '<svg>',
    suspend: () => {},
    redraw: () => {},
  }
  const program = new Program(open, host, clock.effects(realEffects))
  return { program, frames, session, clock, host }
}

async function opened() {
  const session = new FakeSession()
  const begun = begin(session, async () => session.opened)
  begun.program.start()
  await begun.clock.advance(500)
  return begun
}
