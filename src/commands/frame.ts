/** `streamtop frame`: the dashboard drawn once, of what is on disk. Nothing is started and nothing in the workspace is written. */
import type { Verb } from './verb.js'
import { wholeNumber } from './whole-number.js'

export interface FrameOptions {
  readonly svg?: string
  readonly columns?: number
  readonly rows?: number
  readonly query?: string
  readonly topic?: string
  readonly theme?: string
  readonly ascii?: boolean
}

export const frame: Verb<FrameOptions> = {
  name: 'frame',
  summary: 'draw the dashboard once, as text or as a picture',
  description: 'Looks at the workspace, draws what the dashboard would show, and ends. No query is started. Colours only on a terminal, and in the picture.',
  options: [
    { flags: '--svg <file>', description: 'write a picture instead of text' },
    { flags: '--columns <n>', description: "cells in a row; the terminal's, or 80", parse: wholeNumber('--columns', 1, 1_000) },
    { flags: '--rows <n>', description: 'rows; as many as the terminal has, or 24', parse: wholeNumber('--rows', 1, 1_000) },
    { flags: '--query <name>', description: 'the query that is looked at closely; the first unless given' },
    { flags: '--topic <name>', description: 'what queries of topic orders read instead' },
    { flags: '--theme <name>', description: 'as for the dashboard' },
    { flags: '--ascii', description: 'draw with ASCII alone' },
  ],
  examples: [
    { command: 'streamtop frame', does: 'on the terminal' },
    { command: 'streamtop frame --svg top.svg --columns 120 --rows 40', does: 'a picture' },
  ],
  async run(context) {
    const { drawFrame } = await import('./draw-frame.js')
    return drawFrame(context)
  },
}
