/** docs/scenarios.md lists the actions that the one table has, as the table says them. */
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { SCRIPT_VERBS, scriptForm } from '../../src/session/actions.js'

const DOCS = readFileSync(new URL('../../docs/scenarios.md', import.meta.url), 'utf8')

test('every action of a script stands there, with the same words', () => {
  const [table = ''] = /\| line \| does \|[\s\S]*?(?=\n\n)/.exec(DOCS) ?? []
  const rows = SCRIPT_VERBS.map(scriptForm).map(({ lines, does }) => `| ${lines.map((line) => `\`${line}\``).join(', ')} | ${does} |`)
  expect(table).toBe(['| line | does |', '| --- | --- |', ...rows].join('\n'))
})
