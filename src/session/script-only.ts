/** What a scenario's script can say and neither a key nor a command: the rest of the table of `actions.ts`. */
import type { ScriptForm } from './actions.js'

export const SCRIPT_ONLY: readonly ScriptForm[] = [
  { verb: 'say', lines: ['say: TEXT'], does: 'a caption: what to look at, and why it is so' },
  {
    verb: 'run',
    lines: ['run: QUERY', 'run: { query: QUERY, kill: STEP, idempotent: true, app-id: A, options: { maxFilesPerTrigger: 1 }, accept-gap: true }'],
    does: 'runs a query until it is caught up, as `streamtop run` with these options; with `kill: STEP` or `STEP:OCCURRENCE` until it is dead there',
  },
  {
    verb: 'lose',
    lines: ['lose: { checkpoint: QUERY, file: metadata }'],
    does: 'a file of a checkpoint is lost, as by a careless copy: `metadata`, `offsets/N` or `commits/N`',
  },
  {
    verb: 'wait',
    lines: ['wait: 2', 'wait: { query: QUERY, until: caught-up, within: 30 }'],
    does: 'seconds; or until a query is `caught-up`, `held`, `waiting`, `killed`, `failed` or `stopped`',
  },
  { verb: 'expect', lines: ['expect: { … }'], does: 'what must be so now; after a line that fails, with what error' },
]
