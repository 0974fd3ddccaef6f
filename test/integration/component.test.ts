/** The dashboard inside another program that draws with Ink, as the package gives it: in a real terminal, with its own queries. */
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { commandFolder } from './command.js'
import { openTerminal, processesIn } from './pseudo-terminal.js'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))

/** The README's example: what it shows is what people copy. */
const [, PROGRAM = ''] = /```js\n([^`]*streamtop\/tui[^`]*)```/.exec(readFileSync(`${ROOT}README.md`, 'utf8')) ?? []

test('it runs the queries, takes keys, and ends with the program around it; no query stays behind', async () => {
  const { folder, path, list } = commandFolder()
  mkdirSync(path('node_modules'))
  for (const name of ['ink', 'react']) symlinkSync(`${ROOT}node_modules/${name}`, path('node_modules', name))
  symlinkSync(ROOT, path('node_modules', 'streamtop'))
  writeFileSync(path('program.mjs'), PROGRAM)

  // Ink draws nothing while CI is set.
  const terminal = openTerminal('', { folder, program: path('program.mjs'), environment: { CI: 'false' } })
  await terminal.shows(/^my own program\n streamtop/m)
  await terminal.shows(/2 +. running +events_copy/)
  expect(list('demo')).toContain('topics.db')
  terminal.press('2K')
  await terminal.shows(/✕ KILLED +events_copy/)
  terminal.press('q')
  expect(await terminal.ended).toBe(0)
  expect(processesIn(folder)).toEqual([])
})
