/** The promises of the real effects that only a race or a loss of power would show. */
import { existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
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
})
