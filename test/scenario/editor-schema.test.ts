/** The schema that editors are given is the one of this program. */
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { editorSchemaText } from '../../src/scenario/editor-schema.js'

const PATH = fileURLToPath(new URL('../../scenarios/scenario.schema.json', import.meta.url))

test('scenarios/scenario.schema.json is up to date; "npx vitest run test/scenario/editor-schema.test.ts -u" writes it', async () => {
  await expect(editorSchemaText()).toMatchFileSnapshot(PATH)
})

test('it knows every action and says what each does', () => {
  const schema = JSON.parse(readFileSync(PATH, 'utf8'))
  const actions = schema.properties.script.items.properties
  expect(Object.keys(actions)).toContain('lose')
  for (const [name, action] of Object.entries<{ description?: string }>(actions)) expect(action.description, name).toMatch(/\.$/)
})
