import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { buildSync } from 'esbuild'
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { type Effects, realEffects } from '../../src/effects.js'
import { probeLink } from '../../src/engine/link-probe.js'
import { acquireLock, readLockHolder } from '../../src/engine/lock.js'
import { StreamtopError } from '../../src/errors.js'

const fx = realEffects
const ROOT = join(import.meta.dirname, '..', '..')

let program: string
beforeAll(() => {
  const entry = join(ROOT, 'test', 'fixtures', 'lock-holder.ts')
  const built = buildSync({ entryPoints: [entry], bundle: true, write: false, format: 'esm', platform: 'node', target: 'node20', external: ['better-sqlite3'] })
  program = built.outputFiles[0]?.text ?? ''
})

let workspace: string
const children: ChildProcess[] = []
beforeEach(() => {
  workspace = mkdtempSync(join(tmpdir(), 'streamtop-lock-'))
})
afterEach(() => {
  for (const child of children.splice(0)) child.kill('SIGKILL')
  rmSync(workspace, { recursive: true, force: true })
})

describe('the lock of a query', () => {
  it('is taken, read and freed', async () => {
    expect(readLockHolder(workspace, 'x', fx)).toBeNull()
    const before = fx.nowMs()
    const lock = await acquireLock(workspace, 'x', fx)
    const holder = readLockHolder(workspace, 'x', fx)
    expect(holder).toMatchObject({ pid: process.pid, parentPid: process.ppid, processStart: fx.processStart(process.pid) })
    expect(holder?.startedAtMs).toBeGreaterThanOrEqual(before)
    lock.release()
    lock.release()
    expect(readLockHolder(workspace, 'x', fx)).toBeNull()
    const again = await acquireLock(workspace, 'x', fx)
    again.release()
    expect(readdirSync(join(workspace, '.locks'))).toEqual(['x.db'])
    expect(readdirSync(workspace)).toEqual(['.locks'])
  })

  it('is one a query', async () => {
    const one = await acquireLock(workspace, 'one', fx)
    const two = await acquireLock(workspace, 'two', fx)
    await expect(acquireLock(workspace, 'one', fx)).rejects.toMatchObject({ code: 'concurrent-query' })
    one.release()
    two.release()
  })

  it('cut at any byte is taken or refused by name, and nobody waits for ever', async () => {
    const lock = await acquireLock(workspace, 'x', fx)
    lock.abandon()
    const path = join(workspace, '.locks', 'x.db')
    const whole = readFileSync(path)
    for (let length = 0; length < whole.length; length += 797) {
      writeFileSync(path, whole.subarray(0, length))
      const taken = await acquireLock(workspace, 'x', fx).catch((error: unknown) => error)
      if (taken instanceof Error) expect(taken).toMatchObject({ code: 'checkpoint-damaged', hint: expect.stringContaining('remove the file') })
      else (taken as Awaited<ReturnType<typeof acquireLock>>).release()
    }
  })

  it('abandoned, as by a death, is free although the row still says us', async () => {
    const lock = await acquireLock(workspace, 'x', fx)
    lock.abandon()
    lock.release()
    expect(readLockHolder(workspace, 'x', fx)).toBeNull()
    const again = await acquireLock(workspace, 'x', fx)
    expect(readLockHolder(workspace, 'x', fx)?.pid).toBe(process.pid)
    again.release()
  })

  it('checks the name, and a file that is no lock is named', async () => {
    await expect(acquireLock(workspace, '../x', fx)).rejects.toMatchObject({ code: 'bad-name' })
    mkdirSync(join(workspace, '.locks'))
    writeFileSync(join(workspace, '.locks', 'x.db'), 'not a database, and longer than the hundred bytes of a header '.repeat(9))
    await expect(acquireLock(workspace, 'x', fx)).rejects.toMatchObject({ code: 'checkpoint-damaged', message: expect.stringContaining('x.db') })
    expect(readLockHolder(workspace, 'x', fx)).toBeNull()
  })
})

describe('held by another process', () => {
  it('is refused by its pid, read without a write, and free as soon as it is killed', async () => {
    const child = holdInChild()
    const pid = await saidPid(child)
    const file = join(workspace, '.locks', 'x.db')
    const before = readFileSync(file)
    expect(readLockHolder(workspace, 'x', fx)).toMatchObject({ pid, parentPid: process.pid })
    expect(readFileSync(file).equals(before)).toBe(true)
    expect(existsSync(`${file}-journal`)).toBe(false)
    // Who reads does not hinder: the child still holds it.
    await expect(acquireLock(workspace, 'x', fx)).rejects.toMatchObject({
      code: 'concurrent-query',
      message: expect.stringMatching(new RegExp(`process ${pid}, for \\d+ s`)),
    })

    child.kill('SIGKILL')
    await once(child, 'exit')
    expect(readLockHolder(workspace, 'x', fx)).toBeNull()
    const lock = await acquireLock(workspace, 'x', { ...fx, sleep: () => Promise.reject(new Error('it waited')) })
    expect(readLockHolder(workspace, 'x', fx)?.pid).toBe(process.pid)
    lock.release()
  })

  it('of several that start at once, one gets it', async () => {
    const started = Array.from({ length: 4 }, () => holdInChild())
    const outcomes = await Promise.all(started.map((child) => Promise.race([saidPid(child), once(child, 'exit').then(() => 'refused' as const)])))
    const pids = outcomes.filter((outcome) => outcome !== 'refused')
    expect(pids).toHaveLength(1)
    expect(readLockHolder(workspace, 'x', fx)?.pid).toBe(pids[0])
  })

  it('is waited for when its parent is gone, for then it is about to end', async () => {
    const child = holdInChild()
    await saidPid(child)
    let waits = 0
    const orphaned: Effects = {
      ...fx,
      processStart: (pid) => (pid === process.pid ? null : fx.processStart(pid)),
      async sleep() {
        if (++waits === 2) {
          child.kill('SIGKILL')
          await once(child, 'exit')
        }
      },
    }
    const lock = await acquireLock(workspace, 'x', orphaned)
    expect(waits).toBe(2)
    lock.release()
  })

  it('is not waited for longer than asked', async () => {
    const child = holdInChild()
    const pid = await saidPid(child)
    let nowMs = 0
    const orphaned: Effects = {
      ...fx,
      processStart: (asked) => (asked === process.pid ? null : fx.processStart(asked)),
      monotonicMs: () => nowMs,
      sleep: async () => {
        nowMs += 500
      },
    }
    await expect(acquireLock(workspace, 'x', orphaned, { waitMs: 1000 })).rejects.toMatchObject({ message: expect.stringContaining(String(pid)) })
    expect(nowMs).toBe(1000)
  })

  it('a row whose pid now belongs to a later process says nothing', async () => {
    const child = holdInChild()
    const pid = await saidPid(child)
    expect(readLockHolder(workspace, 'x', { ...fx, processStart: (asked) => (asked === pid ? 'later' : fx.processStart(asked)) })).toBeNull()
  })
})

describe('the probe of the file system', () => {
  it('leaves nothing behind', () => {
    probeLink(join(workspace, 'new'), fx)
    expect(readdirSync(join(workspace, 'new'))).toEqual([])
  })

  it('removes what a probe that died has left, and nothing of a living one', () => {
    const living = `.link-probe-${process.pid}-${fx.processStart(process.pid)}-01234567`
    for (const name of ['.link-probe-999999999-0-01234567', '..link-probe-999999999-0-01234567.89abcdef.tmp', living]) writeFileSync(join(workspace, name), '')
    probeLink(workspace, fx)
    expect(readdirSync(workspace)).toEqual([living])
  })

  it('refuses where link does not work, before a lock is made', async () => {
    const without = withCreate(() => {
      throw Object.assign(new Error('no links'), { code: 'EPERM' })
    })
    expect(errorOf(() => probeLink(workspace, without))).toMatchObject({ code: 'unsupported-file-system', message: expect.stringContaining('EPERM') })
    await expect(acquireLock(workspace, 'x', without)).rejects.toMatchObject({ code: 'unsupported-file-system' })
    expect(readdirSync(workspace)).toEqual([])
    expect(
      errorOf(() =>
        probeLink(
          workspace,
          withCreate(() => 'created'),
        ),
      ).message,
    ).toContain('created over the first')
  })

  it('lets other errors be what they are', () => {
    const full = withCreate(() => {
      throw Object.assign(new Error('no space'), { code: 'ENOSPC' })
    })
    expect(() => probeLink(workspace, full)).toThrow('no space')
  })
})

function holdInChild(): ChildProcess {
  const child = spawn(process.execPath, ['--input-type=module', '-e', program, workspace, 'x'], { cwd: ROOT, stdio: ['ignore', 'pipe', 'ignore'] })
  children.push(child)
  return child
}

async function saidPid(child: ChildProcess): Promise<number> {
  if (!child.stdout) throw new Error('the child has no output')
  const [data] = (await once(child.stdout, 'data')) as [Buffer]
  return Number(data.toString())
}

function withCreate(create: Effects['files']['create']): Effects {
  return { ...fx, files: { ...fx.files, create } }
}

function errorOf(run: () => unknown): StreamtopError {
  try {
    run()
  } catch (error) {
    if (error instanceof StreamtopError) return error
    throw error
  }
  throw new Error('it did not throw')
}

it('names the parent that it is told of, which may be gone by the time the lock is taken', async () => {
  const lock = await acquireLock(workspace, 'q', realEffects, { parentPid: 999_999_999 })
  expect(readLockHolder(workspace, 'q', realEffects)).toMatchObject({ pid: process.pid, parentPid: 999_999_999, parentStart: null })
  lock.release()
})
