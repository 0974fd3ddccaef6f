/** When a process counts as running. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import fs, { existsSync, readFileSync } from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { expect, test } from 'vitest'
import { realEffects } from '../../src/effects.js'

/** Unless told otherwise a poll gives up after a second. */
const ON_A_BUSY_MACHINE = { timeout: 20_000 }

test('this process has a start, a number that nobody has does not', () => {
  expect(realEffects.processStart(process.pid)).toEqual(expect.any(String))
  expect(realEffects.processStart(999_999_999)).toBeNull()
})

test.runIf(existsSync('/proc/self/stat'))('a killed process that its parent has not taken note of is not running', async () => {
  // exec: the shell becomes a program that never waits for its child.
  const parent = spawn('sh', ['-c', 'sleep 60 & echo $!; exec sleep 60'], { stdio: ['ignore', 'pipe', 'ignore'] })
  const [line] = (await once(parent.stdout, 'data')) as [Buffer]
  const pid = Number(String(line))
  expect(realEffects.processStart(pid)).toEqual(expect.any(String))
  // The shell must have become the sleeper, which never reaps, before its child dies.
  await expect.poll(() => readFileSync(`/proc/${parent.pid}/comm`, 'utf8').trim(), ON_A_BUSY_MACHINE).toBe('sleep')

  process.kill(pid, 'SIGKILL')

  await expect.poll(() => readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.[0], ON_A_BUSY_MACHINE).toBe('Z')
  expect(realEffects.processStart(pid)).toBeNull()
  parent.kill('SIGKILL')
})

test.runIf(existsSync('/proc/self/stat'))('a process that ends between the two calls that read of it is not running', async () => {
  const child = spawn('sleep', ['60'], { stdio: 'ignore' })
  await once(child, 'spawn')
  const { pid } = child
  if (pid === undefined) throw new Error('no child')
  const opened = fs.openSync(`/proc/${pid}/stat`, 'r')
  child.kill('SIGKILL')
  await once(child, 'exit')
  const { readFileSync: read } = fs
  // The file is open already, as it is in the middle of a read.
  fs.readFileSync = ((path: string, encoding: 'utf8') => read(path === `/proc/${pid}/stat` ? opened : path, encoding)) as typeof read
  syncBuiltinESMExports()
  try {
    expect(realEffects.processStart(pid)).toBeNull()
  } finally {
    fs.readFileSync = read
    syncBuiltinESMExports()
    fs.closeSync(opened)
  }
})
