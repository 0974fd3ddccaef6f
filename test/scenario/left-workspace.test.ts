/** A temporary workspace of a play that cannot be removed: what came of the play is told all the same. */
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test, vi } from 'vitest'
import type { PlayVerbOptions } from '../../src/commands/play.js'
import { runPlay } from '../../src/commands/run-play.js'
import type { Context } from '../../src/commands/verb.js'
import { type Effects, realEffects } from '../../src/effects.js'
import { commandHere } from '../command-here.js'
import { scriptText } from './virtual-play.js'

const refuse = (what: string) => () => {
  throw new Error(what)
}

/** Plays it in a world in which no folder can be removed. */
async function played(lines: readonly string[], files: Partial<Effects['files']> = {}) {
  const folder = mkdtempSync(join(tmpdir(), 'streamtop-left-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  vi.stubEnv('TMPDIR', folder)
  onTestFinished(() => void vi.unstubAllEnvs())
  writeFileSync(join(folder, 'mine.yaml'), scriptText(lines))
  const context: Context<PlayVerbOptions> = {
    ...{ workspace: folder, isWorkspaceGiven: false, adopt: false, configFile: null, kafka: null, json: false },
    ...{ options: { virtual: true }, arguments: [join(folder, 'mine.yaml')], signal: new AbortController().signal },
    output: { stdout: () => {}, stderr: () => {}, stdoutIsTerminal: false, stderrIsTerminal: false },
    fx: { ...realEffects, files: { ...realEffects.files, removeFolder: refuse('the folder is not empty'), ...files } },
  }
  const outcome = await runPlay(context).catch((error: Error) => error.message)
  return { outcome, left: readdirSync(folder).filter((name) => name.startsWith('streamtop-play-')).length }
}

test('the exit code is that of the play', async () => {
  expect(await played(['produce: 1', 'expect: { topic: orders, records: 3 }'])).toEqual({ outcome: 0, left: 1 })
  expect(await played(['produce: 1', 'expect: { topic: orders, records: 4 }'])).toEqual({ outcome: 1, left: 1 })
})

test('the error is that of the play', async () => {
  const { outcome } = await played(['produce: 1'], { makeFolder: refuse('the disk is full') })
  expect(outcome).toContain('the disk is full')
})

test('where none has come with it, it does not say that all were as expected', async () => {
  // In this process, which is not built, they would lie elsewhere.
  expect(await commandHere(tmpdir(), ['play', '--all', '--virtual'])).toMatchObject({ exitCode: 1, stdout: '', stderr: expect.stringContaining('no scenario') })
})
