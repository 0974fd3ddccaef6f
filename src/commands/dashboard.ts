/** `streamtop` alone: the dashboard, or without a terminal one line an event. */
import { StreamtopError } from '../errors.js'
import type { Verb } from './verb.js'
import { wholeNumber } from './whole-number.js'

export interface DashboardVerbOptions {
  readonly fresh?: boolean
  readonly readOnly?: boolean
  readonly theme?: string
  readonly ascii?: boolean
  readonly pace?: string
  readonly interval?: number
  readonly rate?: number
  readonly plain?: boolean
  readonly seconds?: number
  readonly topic?: string
  readonly record?: string
  readonly svg?: string
}

export const dashboard: Verb<DashboardVerbOptions> = {
  name: 'dashboard',
  isDefault: true,
  summary: 'watch the queries live, kill them, start them again',
  description:
    'Runs the queries of a workspace, each in a process of its own, and shows what they do and what is on disk; ? lists the keys. ' +
    'Where stdin or stdout is no terminal, with --plain or --json, or when TERM is dumb, it prints one line an event instead.',
  options: [
    { flags: '--fresh', description: 'in a temporary workspace, removed at the end unless it fails', conflicts: ['workspace', 'adopt'] },
    { flags: '--read-only', description: 'run nothing, change nothing: only look' },
    { flags: '--theme <name>', description: 'default, mono or high-contrast; dark or light, or -dark or -light behind it, when the ground is not found' },
    { flags: '--ascii', description: 'draw with ASCII alone' },
    { flags: '--pace <name>', description: 'slowest, slower, slow, brisk, fast or full; slow unless given' },
    { flags: '--interval <ms>', description: 'plan batches so often, whatever the pace', parse: wholeNumber('--interval', 0) },
    { flags: '--rate <r>', description: 'orders a second of the generator, from the start', parse: parseRate },
    { flags: '--topic <name>', description: 'what queries of topic orders read instead, and where orders are sent' },
    { flags: '--plain', description: 'one line an event, without escape codes' },
    { flags: '--record <file>', description: 'record the screen for asciinema; pauses of more than 2 s are cut short' },
    { flags: '--svg <file>', description: 'the same as a picture that moves, for a page' },
    { flags: '--seconds <n>', description: 'end by itself after so long', parse: wholeNumber('--seconds', 1) },
  ],
  async run(context) {
    const { runDashboard } = await import('./run-dashboard.js')
    return runDashboard(context)
  },
}

function parseRate(text: string): number {
  const rate = Number(text)
  if (!/^\d+(\.\d+)?$/.test(text) || rate > 1_000) {
    throw new StreamtopError('usage', `--rate takes orders a second from 0 to 1000, not "${text}"`, { hint: 'for example: --rate 2' })
  }
  return rate
}
