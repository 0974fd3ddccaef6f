/** `streamtop play`: plays a scenario and says whether everything was as it expects. */
import type { Verb } from './verb.js'
import { parseScreenSize } from './screen-size.js'
import { wholeNumber } from './whole-number.js'

export interface PlayVerbOptions {
  readonly plain?: boolean
  readonly all?: boolean
  readonly virtual?: boolean
  readonly speed?: number
  readonly byHand?: boolean
  readonly presenter?: boolean
  readonly theme?: string
  readonly ascii?: boolean
  readonly record?: string
  readonly svg?: string
  readonly size?: { readonly columns: number; readonly rows: number }
}

export const play: Verb<PlayVerbOptions> = {
  name: 'play',
  summary: 'play a scenario and check what it expects',
  description:
    'Plays a scenario: queries run and die as it says, each in a process of its own, and after it a line tells whether all was as expected; exit code 1 when something was not. ' +
    'On a terminal it is played in the dashboard: each caption stays until enter, → or page down is pressed, then what follows happens up to the next caption. ' +
    'Space pauses, and esc or any key that does something hands the workspace over to you. Elsewhere, and with --plain, --json, --all or --virtual, it is a transcript. ' +
    'Without a name it lists the scenarios that come with streamtop. A name is a number (02), the whole name, or the path of a file of your own. ' +
    'A play has a temporary workspace, removed at the end, unless --workspace names a folder.',
  arguments: [{ flags: '[scenario]', description: 'number, name, or path of a .yaml file' }],
  options: [
    { flags: '--speed <x>', description: 'go on by itself after the time that reading takes, x times as fast', parse: wholeNumber('--speed', 1, 100) },
    { flags: '--by-hand', description: 'wait at each line, and not at captions alone', conflicts: ['speed'] },
    { flags: '--presenter', description: 'for a hall: large captions and figures, and nothing foretold' },
    { flags: '--plain', description: 'the transcript, line by line' },
    { flags: '--all', description: 'all that come with streamtop, one after the other' },
    { flags: '--virtual', description: 'in this process, with a clock and ids that are the same each time' },
    { flags: '--theme <name>', description: 'as in the dashboard' },
    { flags: '--ascii', description: 'draw with ASCII alone' },
    { flags: '--record <file>', description: 'record the screen for asciinema, captions as markers; pauses in which nothing happens are cut short' },
    { flags: '--svg <file>', description: 'the same as a picture that moves, for a page' },
    { flags: '--size <size>', description: 'of the screen that is recorded where there is no terminal; 80x24', parse: parseScreenSize },
  ],
  examples: [
    { command: 'streamtop play', does: 'which there are' },
    { command: 'streamtop play 02', does: 'why a plain append counts twice' },
    { command: 'streamtop play 02 --speed 1', does: 'the same, by itself' },
    { command: 'streamtop play mine.yaml', does: 'your own' },
    { command: 'streamtop play 03 --virtual --svg 03.svg', does: 'a picture of it' },
    { command: 'streamtop play --all --virtual', does: 'all in seconds' },
  ],
  async run(context) {
    const { runPlay } = await import('./run-play.js')
    return runPlay(context)
  },
}
