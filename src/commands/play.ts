/** `streamtop play`: plays a scenario and says whether everything was as it expects. */
import type { Verb } from './verb.js'
import { wholeNumber } from './whole-number.js'

export interface PlayVerbOptions {
  readonly plain?: boolean
  readonly all?: boolean
  readonly virtual?: boolean
  readonly speed?: number
}

export const play: Verb<PlayVerbOptions> = {
  name: 'play',
  summary: 'play a scenario and check what it expects',
  description:
    'Plays a scenario: queries run and die as it says, each in a process of its own, and after it a line tells whether all was as expected; exit code 1 when it was not. ' +
    'Without a name it lists the scenarios that come with streamtop. A name is a number (02), the whole name, or the path of a file of your own. ' +
    'A play has a temporary workspace, removed at the end, unless --workspace names a folder that is not the current one.',
  arguments: [{ flags: '[scenario]', description: 'number, name, or path of a .yaml file' }],
  options: [
    { flags: '--plain', description: 'the transcript, line by line' },
    { flags: '--all', description: 'all that come with streamtop, one after the other' },
    { flags: '--virtual', description: 'in this process, with a clock and ids that are the same each time' },
    { flags: '--speed <x>', description: 'wait after each caption as long as reading it takes, x times as fast', parse: wholeNumber('--speed', 1, 100) },
  ],
  examples: [
    { command: 'streamtop play', does: 'which there are' },
    { command: 'streamtop play 02', does: 'why a plain append counts twice' },
    { command: 'streamtop play mine.yaml', does: 'your own' },
    { command: 'streamtop play --all --virtual', does: 'all in seconds' },
  ],
  async run(context) {
    const { playVerb } = await import('./play-plainly.js')
    return playVerb(context)
  },
}
