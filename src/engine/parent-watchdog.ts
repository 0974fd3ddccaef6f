/**
 * Ends a process whose parent is gone although its own thread is blocked: a user's function that never returns lets no event of
 * that thread through, the closed channel's neither. So a thread of its own looks, and kills the process as a whole.
 *
 * Where a dead parent's pid stays (Windows) it sees nothing. It costs some 8 MB and 20 ms, and is only for processes that run other people's code.
 */
import { Worker } from 'node:worker_threads'

/**
 * Resolves when the thread looks. Nothing of a user's may run before: a thread that is still starting can need this one, and one that
 * is blocked by then would never be watched.
 *
 * @param parentPid the process whose end is this one's too: its direct parent, for `process.ppid` is asked. It is another's once that is gone.
 */
export async function watchParent(parentPid: number): Promise<void> {
  const watchdog = new Worker(LOOKS, {
    eval: true,
    workerData: { parentPid, everyMs: LOOK_MS, longest: LOOKS_WITHOUT_PARENT },
    // Nothing that was asked of the process is for this thread, and it needs a few objects.
    env: {},
    execArgv: [],
    trackUnmanagedFds: false,
    resourceLimits: { maxOldGenerationSizeMb: 16, maxYoungGenerationSizeMb: 2, codeRangeSizeMb: 1, stackSizeMb: 1 },
  })
  await new Promise<void>((resolve) => {
    watchdog.once('message', () => resolve())
    // Without it the process lives as long as it did before.
    watchdog.on('error', () => resolve())
    watchdog.once('exit', () => resolve())
  })
  watchdog.unref()
}

const LOOK_MS = 250
/** Looks after the first that found no parent: 750 ms, so that a thread that is not blocked ends in its own way before. */
const LOOKS_WITHOUT_PARENT = 3

/** The thread's program, as a text: a file of its own would be one more to build, to ship and to find. */
const LOOKS = `
const { parentPort, workerData } = require('node:worker_threads')
const { parentPid, everyMs, longest } = workerData
let missed = 0
setInterval(() => {
  if (process.ppid === parentPid) missed = 0
  else if (missed++ >= longest) process.kill(process.pid, 'SIGKILL')
}, everyMs)
parentPort.postMessage('looks')
`
