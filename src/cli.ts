#!/usr/bin/env node
/**
 * The command `streamtop`: gives a command line the real process, and is the only place that ends it.
 *
 * The first ctrl-c (or SIGTERM, SIGHUP) asks the verb to end cleanly, the second ends at once; the exit code is the signal's
 * either way. When nobody reads stdout or stderr any more the verb is asked to end too, and at its next word the process ends quietly
 * with 0, as `| head` expects; when their terminal is gone, that is a SIGHUP.
 */
import { runCommandLine } from './commands/command-line.js'
import { VERBS } from './commands/registry.js'
import { StreamtopError } from './errors.js'

const SIGNAL_EXIT_CODES = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 } as const

const controller = new AbortController()
let signalExitCode: number | undefined

const askToEnd = (code: number): void => {
  signalExitCode ??= code
  controller.abort()
}

let signalCount = 0
for (const [signal, exitCode] of Object.entries(SIGNAL_EXIT_CODES)) {
  process.on(signal, () => {
    // A terminal that is closed says so twice, by its shell and by the kernel: nobody is impatient then.
    if (signalCount > 0 && signal === 'SIGHUP') return
    signalCount += 1
    if (signalCount > 1) process.exit(exitCode)
    askToEnd(exitCode)
  })
}

let isUnread = false
for (const stream of [process.stdout, process.stderr]) {
  stream.on('error', (error: NodeJS.ErrnoException) => {
    // Who was asked to end does so by itself, whoever hears what it has to say.
    if (error.code === 'EIO') askToEnd(SIGNAL_EXIT_CODES.SIGHUP)
    else if (signalExitCode !== undefined) return
    else if (error.code !== 'EPIPE') process.exit(1)
    else {
      isUnread = true
      askToEnd(0)
    }
  })
}

process.once('beforeExit', () => {
  // Nothing is left that could end what is waited for here. By the event `exit` signal-exit has made a 0 of Node's own code for it.
  process.exitCode = 1
  process.stderr.write('streamtop: it waits for something that never comes, most likely an await in the configuration file\n')
})

/** @throws usage when somebody removed it while a shell stood in it */
function workingFolder(): string {
  try {
    return process.cwd()
  } catch (error) {
    throw new StreamtopError('usage', 'the folder that this was started in is not there any more', { hint: 'change to one that is: cd ~', cause: error })
  }
}

const exitCode = await runCommandLine(process.argv.slice(2), VERBS, {
  workingFolder,
  output: {
    stdout: (text) => void (isUnread ? process.exit(0) : process.stdout.write(text)),
    stderr: (text) => void process.stderr.write(text),
    stdoutIsTerminal: process.stdout.isTTY === true,
    stderrIsTerminal: process.stderr.isTTY === true,
    isUnread: () => isUnread,
  },
  signal: controller.signal,
  showStacks: process.env.STREAMTOP_DEBUG === '1',
  loadEffects: async () => (await import('./effects.js')).realEffects,
})

// What was written may still be on its way when the other end is slow.
process.stdout.write('', () => process.stderr.write('', () => process.exit(signalExitCode ?? exitCode)))
