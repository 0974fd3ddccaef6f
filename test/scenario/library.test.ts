/** Which scenario is meant, and that no name leads out of the folder. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, describe, expect, test } from 'vitest'
import { realEffects as fx } from '../../src/effects.js'
import { checkQueries } from '../../src/scenario/check-queries.js'
import { findScenario, listScenarios } from '../../src/scenario/library.js'
import { parseScenario } from '../../src/scenario/parse-scenario.js'
import { scriptText } from './virtual-play.js'

const SCENARIOS = fileURLToPath(new URL('../../scenarios', import.meta.url))
const HERE = mkdtempSync(join(tmpdir(), 'streamtop-library-'))
afterAll(() => rmSync(HERE, { recursive: true, force: true }))

const find = (wanted: string, folder = SCENARIOS) => findScenario(wanted, folder, HERE, fx)

describe('a scenario is found', () => {
  test.each(['02', '02-plain-append-duplicates', '02-plain'])('as %s', (wanted) => {
    expect(find(wanted).name).toBe('02-plain-append-duplicates')
  })

  test('by the path of a file, with its queries beside it', () => {
    mkdirSync(join(HERE, 'deep'))
    writeFileSync(join(HERE, 'deep', 'mine.yaml'), `config: q.mjs\n${scriptText(['produce: all'])}`)
    expect(() => find('deep/mine.yaml')).toThrow('deep/mine.yaml:1: config: expected a file beside it, found no q.mjs')
    writeFileSync(join(HERE, 'deep', 'q.mjs'), 'export default []')
    expect(find('deep/mine.yaml')).toMatchObject({ name: 'mine', configFile: join(HERE, 'deep', 'q.mjs') })
  })
})

test.each([
  ['99', 'usage', 'there is no scenario 99'],
  ['plain-append-duplicates', 'usage', 'there is no scenario plain-append-duplicates'],
  ['..', 'usage', 'there is no scenario ..'],
  ['02%2f..', 'usage', 'there is no scenario'],
  ['.*', 'usage', 'there is no scenario .*'],
  ['', 'usage', 'there is no scenario '],
  ['../02', 'source-missing', 'there is no file ../02'],
  ['mine.yml', 'source-missing', 'there is no file mine.yml'],
])('"%s" is none', (wanted, code, message) => {
  expect(() => find(wanted)).toThrow(expect.objectContaining({ code, message: expect.stringContaining(message) }))
})

test('a slip of the hand is told', () => {
  expect(() => find('02-plane-append-duplicates')).toThrow(
    expect.objectContaining({ hint: expect.stringContaining('did you mean 02-plain-append-duplicates?') }),
  )
})

test('what lies beside them is no scenario', () => {
  writeFileSync(join(HERE, '01-mine.yaml'), scriptText(['produce: all']))
  writeFileSync(join(HERE, 'README.md'), '#')
  writeFileSync(join(HERE, '1-short.yaml'), 'broken')
  expect(listScenarios(HERE, fx).map(({ name }) => name)).toEqual(['01-mine'])
})

test('a file in another encoding names the line where that shows', () => {
  for (const encoding of ['latin1', 'utf16le'] as const) {
    writeFileSync(join(HERE, 'other.yaml'), Buffer.from(scriptText(['produce: all', 'say: Für Mai', 'say: ÿ']), encoding))
    expect(() => find('other.yaml')).toThrow(expect.objectContaining({ code: 'bad-config', message: expect.stringMatching(/^other\.yaml:\d+: expected/) }))
  }
  writeFileSync(join(HERE, 'other.yaml'), Buffer.from(scriptText(['produce: all', 'say: Für Mai']), 'latin1'))
  expect(() => find('other.yaml')).toThrow('other.yaml:4: expected UTF-8, found other bytes')
  writeFileSync(join(HERE, 'other.yaml'), scriptText(['produce: all', 'say: Für Mai 日本 🙂']))
  expect(find('other.yaml').name).toBe('other')
})

test('a query that there is not is told before anything runs', () => {
  const scenario = parseScenario(scriptText(['produce: all', 'run: bronze_oders']), 'mine.yaml')
  expect(() => checkQueries(scenario, ['bronze_orders', 'orders'])).toThrow(
    expect.objectContaining({
      code: 'bad-config',
      message: 'mine.yaml:4: run: expected one of the queries bronze_orders, orders, found "bronze_oders"',
      hint: 'did you mean bronze_orders?',
    }),
  )
})
