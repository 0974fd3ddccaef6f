/** Processes that play schedules, each one at a time. One that dies has found something. */
import { fork } from 'node:child_process'

/**
 * @param {string} program the bundle of worker.ts
 * @param {number} count how many there are at once
 * @param {{isQuiet?: boolean}} options whether what they print is nobody's business
 */
export function openWorkers(program, count, { isQuiet = false } = {}) {
  const idle = []
  const waiting = []
  const all = new Set()
  for (let index = 0; index < count; index++) free(start())

  function start() {
    const child = fork(program, { execArgv: ['--enable-source-maps'], stdio: ['ignore', ...(isQuiet ? ['ignore', 'ignore'] : ['inherit', 'inherit']), 'ipc'] })
    all.add(child)
    child.once('exit', () => all.delete(child))
    return child
  }

  function free(child) {
    const next = waiting.shift()
    if (next) next(child)
    else idle.push(child)
  }

  /** What came of a schedule (`Answer` in worker.ts). */
  async function play(order) {
    const child = idle.pop() ?? (await new Promise((resolve) => waiting.push(resolve)))
    return new Promise((resolve) => {
      const onExit = (code, signal) => {
        const violations = [`the process that played it ended with ${signal ?? code}`]
        free(start())
        resolve({ number: order.number, kills: 0, killsBy: {}, checks: 0, looks: 0, acts: [], trace: [], violations, tookMs: 0 })
      }
      child.once('exit', onExit)
      child.once('message', (answer) => {
        child.off('exit', onExit)
        free(child)
        resolve(answer)
      })
      child.send(order)
    })
  }

  return {
    play,
    close() {
      for (const child of all) {
        child.removeAllListeners('exit')
        child.kill('SIGKILL')
      }
    },
  }
}
