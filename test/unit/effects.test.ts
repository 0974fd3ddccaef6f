/** The promises of the real effects that only a race or a loss of power would show. */
import fs, { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, symlinkSync } from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { realEffects } from '../../src/effects.js'

const { files } = realEffects
let root: string
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'streamtop-effects-'))
})
afterEach(() => {
  vi.restoreAllMocks()
  rmSync(root, { recursive: true })
})

describe('makeFolder', () => {
  test('syncs the parent of each folder that it makes, the outer one first', () => {
    const synced = vi.spyOn(files, 'syncFolder')
    files.makeFolder(join(root, 'a', 'b'))
    expect(existsSync(join(root, 'a', 'b'))).toBe(true)
    expect(synced.mock.calls).toEqual([[root], [join(root, 'a')]])
  })

  test('syncs the parent of a folder that another process makes first', () => {
    const folder = join(root, 'a')
    const { makeFolder } = files
    // Between the look whether it is there and the call that makes it, the parent is seen to.
    vi.spyOn(files, 'makeFolder').mockImplementation((parent) => {
      expect(parent).toBe(dirname(folder))
      mkdirSync(folder)
    })
    const synced = vi.spyOn(files, 'syncFolder')
    makeFolder(folder)
    expect(synced.mock.calls).toEqual([[root]])
  })

  test('syncs the parent of a folder that is there, once: who made it may have died before', () => {
    mkdirSync(join(root, 'a'))
    const opened: unknown[] = []
    const { openSync } = fs
    fs.openSync = ((path: string, ...rest: [string]) => {
      opened.push(path)
      return openSync(path, ...rest)
    }) as typeof openSync
    syncBuiltinESMExports()
    try {
      files.makeFolder(join(root, 'a'))
      files.makeFolder(join(root, 'a'))
    } finally {
      fs.openSync = openSync
      syncBuiltinESMExports()
    }
    expect(opened).toEqual([root])
  })
})

describe('a growing file', () => {
  test('is made anew, for its owner alone', () => {
    const path = join(root, 'a')
    files.createGrowing(path).close()
    expect(statSync(path).mode & 0o777).toBe(0o600)
    expect(() => files.createGrowing(path)).toThrow('EEXIST')
    symlinkSync(join(root, 'nowhere'), join(root, 'b'))
    expect(() => files.createGrowing(join(root, 'b'))).toThrow('EEXIST')
  })

  test('has what was appended whole or not at all, when the disk is full in the middle of it', () => {
    const path = join(root, 'a')
    const file = files.createGrowing(path)
    file.append('first\n')
    const { writeSync } = fs
    let calls = 0
    const short = (fd: number, content: Uint8Array, offset: number, length: number) => {
      calls += 1
      if (calls > 1) throw new Error('ENOSPC')
      return writeSync(fd, content, offset, Math.min(3, length))
    }
    fs.writeSync = short as typeof writeSync
    syncBuiltinESMExports()
    try {
      expect(() => file.append('second\n')).toThrow('ENOSPC')
    } finally {
      fs.writeSync = writeSync
      syncBuiltinESMExports()
    }
    expect(readFileSync(path, 'utf8')).toBe('first\n')
    file.append('third\n')
    file.close()
    expect(readFileSync(path, 'utf8')).toBe('first\nthird\n')
  })
})

test('below a file there is nothing, and asking is no error', () => {
  files.create(join(root, 'README.md'), 'a file')
  const below = join(root, 'README.md', '_delta_log')
  expect([files.exists(below), files.isLink(below), files.readIfPresent(below), files.status(below), files.list(below)]).toEqual([false, false, null, null, []])
})

test('a file in the place of a folder is no empty folder', () => {
  files.create(join(root, 'offsets'), 'a file')
  expect(() => files.list(join(root, 'offsets'))).toThrow('ENOTDIR')
})

describe('a sleep', () => {
  const MONTH_MS = 31 * 24 * 3_600_000

  test.each([MONTH_MS, 3 * MONTH_MS, 5_000])('of %i ms is over after that and no sooner', async (durationMs) => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    try {
      let isOver = false
      void realEffects.sleep(durationMs).then(() => {
        isOver = true
      })
      await vi.advanceTimersByTimeAsync(durationMs - 1)
      expect(isOver).toBe(false)
      await vi.advanceTimersByTimeAsync(1)
      expect({ isOver, timers: vi.getTimerCount() }).toEqual({ isOver: true, timers: 0 })
    } finally {
      vi.useRealTimers()
    }
  })

  test('of a long time is ended by the signal', async () => {
    const end = new AbortController()
    const sleeping = realEffects.sleep(3 * MONTH_MS, end.signal)
    end.abort()
    await sleeping
  })
})
