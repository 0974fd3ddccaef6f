/** The README says of the keys what the table of actions says. */
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { type Action, ACTIONS } from '../../src/session/actions.js'
import { keysLabel } from '../../src/tui/key-label.js'

test('every action stands in the table of keys, as it is', () => {
  const readme = readFileSync(new URL('../../README.md', import.meta.url), 'utf8')
  const [table = ''] = /(?<=checks it -->\n\n)\| key [\s\S]*?(?=\n\n)/.exec(readme) ?? []
  expect(table).toBe(['| key | command | does |', '| --- | --- | --- |', ...ACTIONS.map(rowOf)].join('\n'))
})

function rowOf({ keys, command, does }: Action): string {
  const shown = keysLabel(keys, false)
    .split(' ')
    .filter((label) => label !== '')
  return `| ${shown.map(code).join(' ')} | ${command === null ? '' : code(`:${command}`)} | ${does} |`
}

/** A bar would end the cell. */
function code(text: string): string {
  return `\`${text.replaceAll('|', '\\|')}\``
}
