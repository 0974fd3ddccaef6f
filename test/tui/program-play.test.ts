/** A play in the dashboard without a screen: keys, the conductor and the session together, on a clock that the test moves. */
import { expect, test } from 'vitest'
import { realEffects } from '../../src/effects.js'
import { pausableClock } from '../../src/scenario/pausable-clock.js'
import type { PlayEnd, PlayEvent } from '../../src/scenario/play-event.js'
import { PlayConductor } from '../../src/tui/play-conductor.js'
import type { PlaySetting } from '../../src/tui/play-state.js'
import { Program } from '../../src/tui/program.js'
import { FakeSession } from './fake-session.js'
import { ManualClock } from './manual-clock.js'
import { AGAIN, CHECKED, END, FIRST, KILLED, OPENING, RUN, SECOND, setting, WRITTEN } from './plays.js'

test('from the first caption to the end, with a key at each', async () => {
  const { program, clock, chapters } = await begun()
  const at = () => [program.model.play?.phase, program.model.play?.at]
  expect(at()).toEqual(['waiting', -1])
  for (const [waitedFor, line] of [
    ['waiting', 0],
    ['waiting', 3],
    ['ended', 4],
  ] as const) {
    program.press({ name: 'enter' })
    await clock.advance(10_000)
    expect(at()).toEqual([waitedFor, line])
  }
  expect(chapters).toEqual(['Mine', 'We copy, and die.', 'And now again.'])
  expect(program.model.selected).toBe('bronze_orders')
})

test('space holds it between two lines for as long as it takes, and asks the session for it', async () => {
  const { program, clock, session } = await begun()
  program.press({ name: 'enter' })
  await clock.advance(100)
  program.press({ name: 'enter' })
  await clock.advance(100)
  expect(program.model.play).toMatchObject({ at: 1, told: [] })
  program.press({ name: 'space' })
  await clock.advance(3_600_000)
  expect(program.model.play).toMatchObject({ at: 1, told: [], isPaused: true })
  program.press({ name: 'space' })
  await clock.advance(900)
  expect(program.model.play?.told).toHaveLength(1)
  expect(session.asked.filter((asked) => asked.startsWith('space'))).toEqual(['space: pause', 'space: resume'])
})

test('taken over, no line is played any more; at the end what was opened with the session is closed too', async () => {
  const { program, clock, session, lines } = await begun()
  program.press({ name: 'enter' })
  await clock.advance(100)
  program.press({ name: 'K' })
  program.press({ name: 'enter' })
  await clock.advance(10_000)
  expect(session.asked).toContain('K: kill bronze_orders')
  expect([program.model.play?.phase, lines.told]).toEqual(['yours', 2])
  program.press({ name: 'q' })
  await program.ended
  expect([session.isClosed, lines.isStopped, lines.isClosed]).toEqual([true, true, true])
})

for (const how of ['q', 'ctrl-c', 'escape then q', 'a signal'] as const) {
  for (const waitsAt of ['nothing', 'captions', 'lines'] as const) {
    test(`ended by ${how} while it is opening, no line is played, also when it waits at ${waitsAt}`, async () => {
      const [opening, closing] = [gate(), gate()]
      const { program, clock, session, lines } = await begun({ waitsAt, speed: 100 }, opening.passed)
      session.mayClose = closing.passed
      for (const name of how.split(' then ')) {
        if (how === 'a signal') program.quit()
        else program.press({ name })
      }
      opening.open()
      // However long it takes to close.
      await clock.advance(60_000)
      expect([lines.told, lines.isStopped, lines.isClosed]).toEqual([0, true, false])
      closing.open()
      await program.ended
      expect([lines.told, lines.isClosed]).toEqual([0, true])
    })
  }
}

/** What is waited for until a test lets it be. */
function gate() {
  let open = () => {}
  const passed = new Promise<void>((resolve) => {
    open = resolve
  })
  return { passed, open: () => open() }
}

async function begun(change: Partial<PlaySetting> = {}, opening: Promise<void> = Promise.resolve()) {
  const clock = new ManualClock()
  const fx = clock.effects(realEffects)
  const session = new FakeSession()
  const lines = { told: 0, isStopped: false, isClosed: false }
  const chapters: string[] = []
  async function* play(): AsyncGenerator<PlayEvent, PlayEnd> {
    for (const event of [OPENING, FIRST, RUN, KILLED, CHECKED, SECOND, AGAIN, WRITTEN, END]) {
      lines.told += 1
      yield event
    }
    return END as PlayEnd
  }
  const conductor = new PlayConductor(play(), pausableClock(fx), () => {
    lines.isStopped = true
  })
  const close = async () => {
    await session.close()
    lines.isClosed = true
  }
  const program = new Program(
    async () => {
      await opening
      return { ...session.opened, play: conductor, close }
    },
    {
      size: { columns: 80, rows: 24 },
      draw: () => {},
      theme: () => {},
      picture: () => '',
      suspend: () => {},
      redraw: () => {},
      chapter: (title) => void chapters.push(title),
    },
    fx,
    setting(change),
  )
  program.start()
  await clock.advance(500)
  return { program, clock, session, lines, chapters }
}
