/** Files that are no scenarios, each with what is said of it: file, line, field, what was expected and what was found. */
import { expect, test } from 'vitest'
import { parseScenario } from '../../src/scenario/parse-scenario.js'

const ACTIONS = 'an action: one of say, produce, generate, run, start, stop, kill, arm, step, idempotent, replay, reset, drop, lose, wait, expect, pause, pace'
const STEPS = 'planned, offsets-logged, rows-read, mid-write, files-written, version-linked, table-committed, batch-committed'

/** A whole file whose third line is given. */
const line = (action: string) => `title: t\nscript:\n  - ${action}\n`

const BROKEN: readonly (readonly [what: string, content: string, error: string])[] = [
  ['nothing at all', '', '1: expected a map with title, script, about, config, found nothing'],
  ['a list', '- say: hello', '1: expected a map with title, script, about, config, found a list of 1'],
  ['no title', 'script:\n  - produce: all', '1: title: expected a line of at most 80 characters, found nothing'],
  ['a title on two lines', 'title: |\n  a\n  b\nscript: []', '1: title: expected a line of at most 80 characters, found "a\\nb\\n"'],
  ['no script', 'title: t', '1: script: expected a list of 1 to 200 actions, found nothing'],
  ['an empty script', 'title: t\nscript: []', '2: script: expected a list of 1 to 200 actions, found a list of 0'],
  ['a field that there is not', 'title: t\nscripts: []', '2: scripts: expected one of title, script, about, config, found scripts'],
  ['a config in another folder', 'title: t\nconfig: ../q.mjs', '2: config: expected the name of a .mjs or .js file beside the scenario, found "../q.mjs"'],
  ['a config by its whole path', 'title: t\nconfig: /etc/q.mjs', '2: config: expected the name of a .mjs or .js file beside the scenario, found "/etc/q.mjs"'],
  ['a config on a drive', 'title: t\nconfig: C:\\q.mjs', '2: config: expected the name of a .mjs or .js file beside the scenario, found "C:\\\\q.mjs"'],
  ['a config of TypeScript', 'title: t\nconfig: q.ts', '2: config: expected the name of a .mjs or .js file beside the scenario, found "q.ts"'],
  ['no YAML', 'title: "t', '1: expected YAML: Missing closing "quote'],
  ['a name twice', 'title: t\ntitle: u', '2: expected YAML: Map keys must be unique'],
  ['two documents', 'title: t\n---\ntitle: u', '2: expected YAML: Source contains multiple documents'],
  ['a tag', line('say: !!js/function x'), '3: expected YAML: Unresolved tag: tag:yaml.org,2002:js/function'],
  ['a tag of YAML itself', line('say: !!str x'), '3: expected a value without a tag, found tag:yaml.org,2002:str'],
  ['a tag on a map', line('!!map { say: x }'), '3: expected a value without a tag, found tag:yaml.org,2002:map'],
  ['a tag that gives no name', line('say: ! x'), '3: expected a value without a tag, found !'],
  ['an anchor', line('say: &a x'), '3: expected a value without an anchor, found &a'],
  ['a merge key', line('<<: { say: x }'), `3: <<: expected ${ACTIONS}, found <<`],
  ['a merge of what was said before', line('<<: *base'), '3: expected the value itself, found the alias *base'],
  ['an alias', line('say: *a'), '3: expected the value itself, found the alias *a'],
  ['aliases of aliases', 'title: &a [x, x]\nabout: &b [*a, *a]\nscript: [*b, *b]', '1: expected a value without an anchor, found &a'],
  ['a list that holds itself', 'title: t\nscript: &s\n  - *s', '3: expected a value without an anchor, found &s'],
  ['yes as YAML 1.1 has it', `%YAML 1.1\n---\n${line('idempotent: { query: q, on: yes }')}`, '5: idempotent.on: expected one of true, false, found "yes"'],
  ['maps without end', `title:\n${Array.from({ length: 40 }, (_, depth) => `${' '.repeat(depth + 1)}a:`).join('\n')} x`, '16: expected at most 16 levels'],
  ['lists without end', `title:\n  ${'- '.repeat(20_000)}x`, '2: expected at most 16 levels'],
  ['too many values', line(`produce: [${'null, '.repeat(20_000)}]`), '3: expected at most 10000 values'],
  ['too many lines', `title: t\nscript:\n${'  - say: x\n'.repeat(201)}`, '3: script: expected a list of 1 to 200 actions, found a list of 201'],
  ['a name that is a list', line('? [say]\n    : x'), '3: expected YAML: With stringKeys, all keys must be strings'],
  ['brackets without end', `title: ${'['.repeat(100_000)}`, '1: expected at most 16 levels'],
  ['an action that there is not', line('rum: bronze_orders'), `3: rum: expected ${ACTIONS}, found rum`],
  ['a command', line('shell: rm -r tables'), `3: shell: expected ${ACTIONS}, found shell`],
  ['two actions in a line', line('say: a\n    run: b'), '4: say: expected one action a line, found say and run in one'],
  ['a caption that says nothing', line('say: ""'), '3: say: expected a text of at most 1000 characters, found ""'],
  ['a part that there is not', line('produce: 5'), '3: produce: expected all, or a whole number from 1 to 4, or a list of 1 to 200 records, found 5'],
  ['a record in a record', line('produce: [{ a: { b: 1 } }]'), '3: produce[0].a: expected a text, a number, true, false or null, found a map'],
  ['a rate in words', line('generate: fast'), '3: generate: expected off, or orders a second above 0, up to 1000, found "fast"'],
  [
    'a query that is a path',
    line('run: ../x'),
    '3: run: expected the name of a query, or a map with query, kill, idempotent, app-id, options, accept-gap, found "../x"',
  ],
  ['a run of nothing', line('run: { kill: planned }'), '3: run.query: expected the name of a query, found nothing'],
  [
    'a step that there is not',
    line('run: { query: q, kill: table-commited }'),
    `3: run.kill: expected a step to die at, STEP or STEP:OCCURRENCE, of ${STEPS}, found "table-commited"`,
  ],
  [
    'an option that there is not',
    line('run: { query: q, crash: true }'),
    '3: run.crash: expected one of query, kill, idempotent, app-id, options, accept-gap, found crash',
  ],
  ['a yes that is a text', line('idempotent: { query: q, on: yes }'), '3: idempotent.on: expected one of true, false, found "yes"'],
  [
    'a wait for something else',
    line('wait: { query: q, until: done }'),
    '3: wait.until: expected one of caught-up, held, waiting, killed, failed, stopped, found "done"',
  ],
  ['a wait for too long', line('wait: 3600'), '3: wait: expected seconds above 0, up to 60, or a map with query, until, within, found 3600'],
  [
    'a file outside of the checkpoint',
    line('lose: { checkpoint: q, file: ../metadata }'),
    '3: lose.file: expected metadata, offsets/N or commits/N, found "../metadata"',
  ],
  [
    'a file by its whole path',
    line('lose: { checkpoint: q, file: /etc/hosts }'),
    '3: lose.file: expected metadata, offsets/N or commits/N, found "/etc/hosts"',
  ],
  ['a table that is a path', line('expect: { table: ../t, rows: 1 }'), '3: expect.table: expected the name of a table, found "../t"'],
  ['a wait for ever', line('wait: .inf'), '3: wait: expected seconds above 0, up to 60, or a map with query, until, within, found Infinity'],
  ['a field twice', line('run: { query: q, query: r }'), '3: expected YAML: Map keys must be unique'],
  ['a pace that there is not', line('pace: quick'), '3: pace: expected one of slowest, slower, slow, brisk, fast, full, found "quick"'],
  [
    'an expectation of nobody',
    line('expect: { rows: 9 }'),
    '3: expect: expected a map that names what is looked at: one of query, table, checkpoint, error, topic, found rows',
  ],
  [
    'an expectation of nothing',
    line('expect: { table: t }'),
    '3: expect: expected something to expect: a map with table, exists, where, rows, distinct, duplicates, values, versions, found nothing that is expected',
  ],
  [
    'a verdict that there is not',
    line('expect: { query: q, verdict: exactly once }'),
    '3: expect.verdict: expected one of exactly-once, duplicated, missing, empty, found "exactly once"',
  ],
  ['rows below none', line('expect: { table: t, rows: -1 }'), '3: expect.rows: expected a whole number from 0 to 1000000000, found -1'],
  [
    'a version that is a word',
    line('expect: { table: t, versions: [first] }'),
    '3: expect.versions[0]: expected a map with operation, query, batch, rows, txn, found "first"',
  ],
  [
    'a partition with a name',
    line('expect: { topic: orders, end-offsets: { first: 9 } }'),
    '3: expect.end-offsets.first: expected a map of partitions and their end offsets, found first',
  ],
  ['too large', `title: ${'t'.repeat(300_000)}`, '1: expected a file of at most 256 KiB'],
]

test.each(BROKEN)('%s', (_, content, error) => {
  expect(said(content)).toBe(`bad-config my.yaml:${error}`)
})

test('an error in a code is told with all there are', () => {
  expect(said(line('expect: { error: no-metadata }'))).toMatch(
    /^bad-config my\.yaml:3: expect\.error: expected one of usage, .*metadata-missing.*, found "no-metadata"$/,
  )
})

function said(content: string): string {
  try {
    parseScenario(content, 'my.yaml')
    return 'nothing'
  } catch (error) {
    const { code, message } = error as { code: string; message: string }
    return `${code} ${message}`
  }
}
