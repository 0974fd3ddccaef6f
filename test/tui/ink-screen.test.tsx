/** The component for Ink shows what `frameOf` draws, and no input harms it. */
import { Box, Text } from 'ink'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { realEffects } from '../../src/effects.js'
import { frameOf } from '../../src/tui/frame.js'
import { UNICODE_GLYPHS } from '../../src/tui/glyphs.js'
import { InkScreen } from '../../src/tui/ink-screen.js'
import type { Size } from '../../src/tui/line.js'
import type { Model } from '../../src/tui/model.js'
import { textOf } from '../../src/tui/paint.js'
import { initialModel, reduce } from '../../src/tui/reduce.js'
import { FakeSession, OWNER, statusOf, viewOf } from './fake-session.js'
import { renderAt } from './ink-terminal.js'
import { type SeededRandom, seededRandom } from './seeded-random.js'

const NOW_MS = 1_800_000_000_000
/** Time stands still, so that a frame is what the test expects; timers are real. */
const fx = { ...realEffects, nowMs: () => NOW_MS, timeZoneOffsetMinutes: () => 0 }
const VIEW = viewOf([statusOf('bronze_orders', { rows: 57, distinct: 51, duplicates: 6, missing: 0, verdict: 'duplicated' })], NOW_MS)

afterEach(() => vi.unstubAllEnvs())

describe('the lines', () => {
  test.each<Size>([
    { columns: 80, rows: 24 },
    { columns: 120, rows: 40 },
    { columns: 50, rows: 12 },
    { columns: 30, rows: 6 },
  ])('at %j they are those of the frame, one row less than the terminal has', async ({ columns, rows }) => {
    const { screen, session } = mounted({ columns, rows })
    await shows(screen, expectedLines(initialModel(NOW_MS), { columns, rows: rows - 1 }))
    await eventually(() => expect(session.listenerCount).toBe(1))
    session.tell({ kind: 'view', view: VIEW })
    await shows(screen, expectedLines(shownModel(), { columns, rows: rows - 1 }))
  })

  test('a size that is given holds, and another program draws beside it', async () => {
    const session = new FakeSession()
    const screen = renderAt(
      <Box flexDirection="column">
        <Text>above</Text>
        <InkScreen open={async () => session.opened} theme={null} isAscii={false} columns={70} rows={16} onEnd={() => {}} fx={fx} />
      </Box>,
      { columns: 100, rows: 30 },
    )
    await eventually(() => expect(session.listenerCount).toBe(1))
    await shows(screen, ['above', ...expectedLines(shownModel(false), { columns: 70, rows: 16 })])
  })

  test('it follows the terminal', async () => {
    const { screen, session } = mounted({ columns: 80, rows: 24 })
    await eventually(() => expect(session.listenerCount).toBe(1))
    screen.resize({ columns: 100, rows: 30 })
    await shows(screen, expectedLines(shownModel(false), { columns: 100, rows: 29 }))
  })
})

describe('keys', () => {
  test('go to the session, those of one chunk one by one, ctrl-F1 that Ink throws at too', async () => {
    const { screen, session } = mounted({ columns: 80, rows: 24 })
    await ready(screen, session)
    screen.type('jj\u001b[1;5PK')
    await eventually(() => expect(session.asked.at(-1)).toBe('K: kill orders'))
  })

  test('a thousand chunks of any bytes harm nothing', async () => {
    const { screen, session, ended } = mounted({ columns: 80, rows: 24 })
    await ready(screen, session)
    const random = seededRandom()
    for (let chunk = 0; chunk < 1_000; chunk++) {
      const bytes = Buffer.from(Array.from({ length: 1 + random.next(12) }, () => anyByte(random)))
      screen.type(bytes.toString('utf8'))
    }
    await eventually(() => expect(screen.lines().length, `seed ${random.seed}`).toBeGreaterThanOrEqual(23))
    expect(ended, `seed ${random.seed}`).toEqual([])
  })

  test('q ends it once the session is closed', async () => {
    const { screen, session, ended } = mounted({ columns: 80, rows: 24 })
    await ready(screen, session)
    screen.type('q')
    await eventually(() => expect({ ended, isClosed: session.isClosed }).toEqual({ ended: [undefined], isClosed: true }))
  })
})

test('unmounted, it closes the session and gives the keyboard back', async () => {
  const { screen, session, ended } = mounted({ columns: 80, rows: 24 })
  await ready(screen, session)
  screen.app.unmount()
  await eventually(() => expect(session.isClosed).toBe(true))
  expect({ isRaw: screen.stdin.isRaw, listeners: screen.stdin.listenerCount('data'), ended }).toEqual({ isRaw: false, listeners: 0, ended: [] })
})

function mounted(size: Size) {
  const session = new FakeSession()
  const ended: unknown[] = []
  const screen = renderAt(
    <InkScreen open={async () => session.opened} theme={null} isAscii={false} columns={null} rows={null} onEnd={(error) => void ended.push(error)} fx={fx} />,
    size,
  )
  return { screen, session, ended }
}

type Screen = ReturnType<typeof renderAt>

/** Unless told otherwise `vi.waitFor` gives up after a second, which a busy machine may need. */
function eventually(check: () => void): Promise<void> {
  return vi.waitFor(check, { timeout: 20_000 })
}

async function ready(screen: Screen, session: FakeSession): Promise<void> {
  await eventually(() => expect({ listeners: session.listenerCount, isRaw: screen.stdin.isRaw }).toEqual({ listeners: 1, isRaw: true }))
}

async function shows(screen: Screen, lines: readonly string[]): Promise<void> {
  await eventually(() => expect(screen.lines()).toEqual(lines))
}

function shownModel(hasView = true): Model {
  const { model } = reduce(initialModel(NOW_MS), { kind: 'state', state: OWNER })
  return hasView ? reduce(model, { kind: 'view', view: VIEW }).model : model
}

function expectedLines(model: Model, size: Size): string[] {
  return frameOf(model, size, { glyphs: UNICODE_GLYPHS, timeZoneOffsetMinutes: 0 }).map(textOf)
}

/** Escapes and the bytes of sequences more often than others; nothing that quits. */
function anyByte(random: SeededRandom): number {
  const kind = random.next(10)
  if (kind < 2) return 0x1b
  if (kind < 6) return '[O;1259~ABPQRSMIZ<?'.charCodeAt(random.next(19))
  const byte = random.byte()
  return byte === 0x03 || byte === 0x71 ? 0x20 : byte
}
