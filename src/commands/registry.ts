/** The verbs, in the order in which help lists them. A verb that is not in this list does not exist. */
import { dashboard } from './dashboard.js'
import { drop } from './drop.js'
import { frame } from './frame.js'
import { history } from './history.js'
import { matrix } from './matrix.js'
import { optimize } from './optimize.js'
import { play } from './play.js'
import { produce } from './produce.js'
import { replay } from './replay.js'
import { reset } from './reset.js'
import { run } from './run.js'
import { show } from './show.js'
import { status } from './status.js'
import { vacuum } from './vacuum.js'
import type { Verb } from './verb.js'

// One line a verb, imported by its file's name: `import { produce } from './produce.js'`.
export const VERBS: readonly Verb[] = [dashboard, produce, run, show, status, history, drop, reset, replay, optimize, vacuum, play, matrix, frame]
