/** What `produce` reads from may be a pipe, with nobody at its other end yet, or with somebody who writes a line now and then. */
import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { type CommandFolder, commandFolder, until } from './command.js'

/** A workspace with a pipe in it, and a producer that has made its topic and waits at the pipe. */
async function waiting(): Promise<{ readonly at: CommandFolder; readonly producing: ReturnType<CommandFolder['start']> }> {
  const at = commandFolder()
  expect(spawnSync('mkfifo', [at.path('pipe')]).status).toBe(0)
  const producing = at.start('produce --from pipe --json')
  await until('the topic', () => at.list().includes('topics.db') && at.streamtop('status --json').stdout.includes('"endOffsets"'))
  return { at, producing }
}

test('ctrl-c ends it while nobody has opened the pipe to write', async () => {
  const { producing } = await waiting()
  producing.child.kill('SIGINT')
  expect(await producing.ended).toMatchObject({ exitCode: 130, stdout: expect.stringContaining('"sent":0') })
})

test('whoever writes later is heard to the end', async () => {
  const { at, producing } = await waiting()
  writeFileSync(at.path('pipe'), 'one\ntwo\nthree')
  expect(await producing.ended).toMatchObject({ exitCode: 0, stdout: expect.stringContaining('"sent":3') })
})
