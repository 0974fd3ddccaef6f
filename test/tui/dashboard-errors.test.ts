/** A dashboard that fails: what it failed of is what is told, and its recording is closed, once, whatever becomes of that. */
import { expect, test } from 'vitest'
import { realEffects as fx } from '../../src/effects.js'
import { openDashboard } from '../../src/tui/open-dashboard.js'
import type { ScreenRecorder } from '../../src/tui/screen-recorder.js'
import { unseenTerminal } from '../../src/tui/unseen-terminal.js'
import { FakeSession } from './fake-session.js'

const WAYS_TO_FAIL = ['not', 'at the terminal', 'at the first frame', 'when it opens', 'when it closes'] as const

for (const fails of WAYS_TO_FAIL) {
  for (const isRecordingWhole of [true, false]) {
    test(`fails ${fails}, and its recording is ${isRecordingWhole ? 'whole' : 'lost'}`, async () => {
      const { outcome, closings } = await run(fails, isRecordingWhole)
      expect(outcome).toBe(fails !== 'not' ? `failed ${fails}` : isRecordingWhole ? 'quit' : 'the recording is lost')
      expect(closings).toBe(1)
    })
  }
}

async function run(fails: (typeof WAYS_TO_FAIL)[number], isRecordingWhole: boolean) {
  const failIf = (here: typeof fails) => {
    if (fails === here) throw new Error(`failed ${here}`)
  }
  let closings = 0
  const recorder: ScreenRecorder = {
    ...{ began: () => {}, wrote: () => {}, chapter: () => {} },
    drew: () => failIf('at the first frame'),
    close() {
      closings += 1
      if (!isRecordingWhole) throw new Error('the recording is lost')
    },
  }
  const streams = unseenTerminal({ columns: 80, rows: 24 })
  if (fails === 'at the terminal') streams.stdin.setEncoding = () => failIf('at the terminal') as never
  const quit = new AbortController()
  const open = async () => {
    failIf('when it opens')
    setImmediate(() => quit.abort())
    return { ...new FakeSession().opened, close: async () => failIf('when it closes') }
  }
  const ended = openDashboard({ theme: 'default', isAscii: false, environment: {}, streams, recorder, open }, quit.signal, fx)
  const outcome = await ended.then(
    () => 'quit',
    (error: Error) => error.message,
  )
  return { outcome, closings }
}
