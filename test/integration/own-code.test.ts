/** What the code of a user may do to the process that runs it: block its thread, throw where nothing catches it, end it. */
import { describe, expect, test } from 'vitest'
import { type CommandFolder, commandFolder, isRunning, until } from './command.js'

const SLOW_MS = 60_000

/** Nine orders in bronze, and a query whose foreachBatch function has this body. */
function withBody(body: string): CommandFolder {
  const at = commandFolder()
  for (const line of ['produce --all', 'run bronze_orders']) expect(at.streamtop(line).exitCode).toBe(0)
  at.write(
    'streamtop.config.mjs',
    `import { writeFileSync } from 'node:fs'
     import { query, table, foreachBatch } from 'streamtop'
     export default [query('own', table('bronze_orders'), foreachBatch(async (batch) => { ${body} }), { table: 'own' })]`,
  )
  return at
}

/** What `status` says of it. */
function stateOf(at: CommandFolder): unknown {
  const { queries } = JSON.parse(at.streamtop('status --json').stdout) as { queries: { name: string }[] }
  return queries.find(({ name }) => name === 'own')
}

describe('a function that never returns', () => {
  test('ends with its parent, also when that is killed', { timeout: SLOW_MS }, async () => {
    const at = withBody(`writeFileSync('blocked.txt', String(process.pid)); while (true) {}`)
    const { child } = at.start('run own')
    // The file is there before the number is in it.
    const pid = await until('the function', () => Number(at.list().includes('blocked.txt') && at.read('blocked.txt')) || null)
    expect(isRunning(pid)).toBe(true)
    child.kill('SIGKILL')
    await until('the end of the child', () => !isRunning(pid))
  })

  test('is left alone while its parent is there', { timeout: SLOW_MS }, async () => {
    const at = withBody(
      `const until = performance.now() + 2_500; while (performance.now() < until) {}; await batch.append('own', batch.filter(() => true), { txnAppId: 'own', txnVersion: batch.id })`,
    )
    expect(at.streamtop('run own')).toMatchObject({ exitCode: 0, stdout: 'own has 9 rows, 9 different\n' })
  })
})

describe('an error that no promise has', () => {
  test.each([
    ['of a timer', `setTimeout(() => { throw new Error('the mail server is down') }); await new Promise(() => {})`],
    ['of a promise that nobody waits for', `void Promise.reject(new Error('the mail server is down')); await new Promise(() => {})`],
  ])('%s is a failure of the query', (_, body) => {
    const at = withBody(body)
    const { exitCode, stderr } = at.streamtop('run own')
    expect({ exitCode, stderr }).toMatchObject({
      exitCode: 1,
      stderr: expect.stringMatching(/^streamtop: code of own threw where nothing caught it: the mail server is down\n/),
    })
    expect(stateOf(at)).toMatchObject({ state: 'failed', pid: null, lastError: { code: 'foreach-batch-failed' } })
  })
})

test('a process that ends itself is a failure too', () => {
  const at = withBody('process.exit(7)')
  expect(at.streamtop('run own')).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('the process of query own ended with code 7 and said nothing') })
})

test.each([
  ['waits for what never comes', 'await new Promise(() => {})', 'streamtop: it waits for something that never comes'],
  [
    'exports what query() did not make',
    `export default [{ name: 'own', source: { kind: 'table', name: 'a' }, sink: { kind: 'append', table: 'b' } }]`,
    'must export a list of queries',
  ],
  [
    'names one table where a list stands',
    `import { query, table, foreachBatch } from 'streamtop'
     export default query('own', table('a'), foreachBatch(() => {}), { alsoWrites: 'vip' })`,
    'alsoWrites of query own is a list of names of tables',
  ],
])('a configuration that %s is an error, and no silence', (_, content, message) => {
  const at = commandFolder()
  at.write('streamtop.config.mjs', content)
  for (const verb of ['status', 'run own', 'drop b']) {
    expect(at.streamtop(verb)).toMatchObject({ exitCode: 1, stdout: '', stderr: expect.stringContaining(message) })
  }
  expect(at.list()).toEqual(['streamtop.config.mjs'])
})

test('a configuration that waits for what never comes is an error of a play too, which has an end of its own to look after', () => {
  const at = commandFolder()
  at.write('mine.yaml', 'title: Mine\nconfig: mine.mjs\nscript:\n  - produce: all\n')
  at.write('mine.mjs', 'await new Promise(() => {})')
  for (const how of ['--virtual', '--plain']) {
    const stderr = 'streamtop: it waits for something that never comes, most likely an await in the configuration file\n'
    expect(at.streamtop(`play mine.yaml ${how}`)).toEqual(expect.objectContaining({ exitCode: 1, stdout: '', stderr }))
  }
})

test('queries that read in a circle what the others write are not waited for; others beside them are no circle', () => {
  const at = commandFolder()
  at.write(
    'streamtop.config.mjs',
    `import { query, table, append } from 'streamtop'
     const copies = (from, to) => query(from + '_to_' + to, table(from), append(to))
     export default [copies('bronze_orders', 'a'), copies('a', 'b'), copies('b', 'c'), copies('c', 'a'), copies('c', 'd')]`,
  )
  const circle = at.streamtop('run bronze_orders bronze_orders_to_a a_to_b b_to_c c_to_a c_to_d')
  expect(circle).toMatchObject({ exitCode: 2, stdout: '', stderr: expect.stringMatching(/^streamtop: a_to_b and b_to_c and c_to_a read in a circle/) })
  expect(at.streamtop('produce --all').exitCode).toBe(0)
  expect(at.streamtop('run bronze_orders bronze_orders_to_a a_to_b b_to_c c_to_d')).toMatchObject({
    exitCode: 0,
    stdout: expect.stringContaining('d has 9 rows, 9 different\n'),
  })
})
