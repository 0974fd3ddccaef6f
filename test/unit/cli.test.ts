import { resolve } from 'node:path'
import { describe, expect, test } from 'vitest'
import packageJson from '../../package.json' with { type: 'json' }
import { VERBS } from '../../src/commands/registry.js'
import type { Context, Verb } from '../../src/commands/verb.js'
import { wholeNumber } from '../../src/commands/whole-number.js'
import { StreamtopError } from '../../src/errors.js'
import { VERSION } from '../../src/version.js'
import { commandHere } from '../command-here.js'

describe('options', () => {
  test('those of every verb stand before or after it, and the nearer one wins', async () => {
    const before = await run('--workspace w --json copy a')
    const after = await run('copy a --json --workspace=w')
    expect(before.context).toEqual(after.context)
    expect(after.context).toMatchObject({ workspace: resolve('/base/w'), json: true, adopt: false, configFile: null, arguments: ['a'], options: {} })
    expect((await run('--workspace far copy a --workspace near')).context?.workspace).toBe('/base/near')
    expect((await run('copy a --config ../mine.mjs --adopt')).context).toMatchObject({ configFile: '/mine.mjs', adopt: true })
    expect((await run('copy a')).context?.workspace).toBe('/base')
  })

  test('a switch that is not given is absent, --no-x is false', async () => {
    expect((await run('copy a')).context?.options).toEqual({})
    expect((await run('copy a --safe')).context?.options).toEqual({ safe: true })
    expect((await run('copy a --no-safe --times 3')).context?.options).toEqual({ safe: false, times: 3 })
  })

  test('a verb may have a --version of its own, and repeatable arguments come one by one', async () => {
    expect((await run('copy a b c --version 4')).context).toMatchObject({ arguments: ['a', 'b', 'c'], options: { version: '4' } })
  })
})

describe('wrong usage exits 2 and says what to do', () => {
  test.each([
    ['cpy a', "streamtop: unknown verb 'cpy'\n", 'did you mean copy? If not, see "streamtop --help"\n'],
    ['--jsn copy a', "streamtop: unknown option '--jsn'\n", 'did you mean --json? If not, see "streamtop copy --help"\n'],
    ['--workspace w', 'streamtop: no verb was given\n', 'see "streamtop --help"\n'],
    ['copy a --tims 3', "streamtop: unknown option '--tims'\n", 'did you mean --times? If not, see "streamtop copy --help"\n'],
    ['copy a --zzzzzz', "streamtop: unknown option '--zzzzzz'\n", 'see "streamtop copy --help"\n'],
    ['copy', "streamtop: missing required argument 'table'\n", 'see "streamtop copy --help"\n'],
    ['copy a --times', "streamtop: option '--times <n>' argument missing\n", 'see "streamtop copy --help"\n'],
    ['copy a --times 0', 'streamtop: --times takes a whole number from 1 to 9, not "0"\n', 'for example: --times 1\n'],
    ['copy a --safe --unsafe', "streamtop: option '--unsafe' cannot be used with option '--safe'\n", 'see "streamtop copy --help"\n'],
    [
      'copy a --kafka-properties client.properties',
      'streamtop: --kafka-properties goes with --kafka\n',
      'for example: --kafka broker:9093 --kafka-properties client.properties\n',
    ],
  ])('streamtop %s', async (line, happened, todo) => {
    expect(await run(line)).toMatchObject({ exitCode: 2, stdout: '', stderr: happened + todo })
  })
})

describe('errors', () => {
  test('a sentence, the condition in brackets, then the hint; exit 1', async () => {
    const error = new StreamtopError('conflict', 'the table changed', { hint: 'run it again', condition: 'DELTA_CONCURRENT_APPEND' })
    expect(await run('fail', error)).toMatchObject({
      exitCode: 1,
      stdout: '',
      stderr: 'streamtop: the table changed [DELTA_CONCURRENT_APPEND]\nrun it again\n',
    })
    expect(await run('fail', new StreamtopError('conflict', 'no more than this'))).toMatchObject({ exitCode: 1, stderr: 'streamtop: no more than this\n' })
  })

  test('as JSON on stderr when asked for, usage errors too', async () => {
    const error = new StreamtopError('conflict', 'the table changed', { hint: 'run it again' })
    const failed = await run('--json fail', error)
    expect(failed).toMatchObject({ exitCode: 1, stdout: '' })
    expect(JSON.parse(failed.stderr)).toEqual({ error: { code: 'conflict', message: 'the table changed', hint: 'run it again', condition: null } })
    expect(JSON.parse((await run('nothing --json')).stderr)).toMatchObject({ error: { code: 'usage' } })
  })

  test('foreign text in an error reaches the terminal as marks', async () => {
    const stderr = (await run('fail', new StreamtopError('unknown-table', 'no table \u001b[31mred\nline', { hint: 'a\u202eb' }))).stderr
    expect(stderr).toBe('streamtop: no table ␛[31mred␊line\na\\u{202e}b\n')
  })

  test('one that nobody foresaw: a sentence, its stack only when asked for', async () => {
    const error = new TypeError('x is not a function')
    const quiet = await run('fail', error)
    expect(quiet.exitCode).toBe(1)
    expect(quiet.stderr).toBe(
      'streamtop: something went wrong that streamtop does not know: x is not a function\nwhat is committed is safe; run it again with STREAMTOP_DEBUG=1 to see where it happened\n',
    )
    expect((await run('fail', error, { showStacks: true })).stderr).toContain('cli.test.ts')
    expect((await run('fail', 'only a string')).stderr).toContain('only a string')
  })

  test('stopping because it was asked to is not an error', async () => {
    const error = new DOMException('aborted', 'AbortError')
    expect(await run('fail', error, { aborted: true })).toMatchObject({ stderr: '' })
    expect((await run('fail', error)).stderr).not.toBe('')
  })

  test("a verb's own exit code is passed on", async () => {
    expect((await run('one')).exitCode).toBe(1)
  })
})

describe('help and version', () => {
  test('without a verb, and with --help, on stdout with exit 0', async () => {
    const bare = await run('')
    expect(bare).toMatchObject({ exitCode: 0, stderr: '' })
    expect(await run('--help')).toMatchObject({ exitCode: 0, stderr: '', stdout: bare.stdout })
    expect(bare.stdout).toContain('  copy  ')
    expect(bare.stdout).toContain('First steps')
  })

  test('of a verb: its options, examples, and those of every verb', async () => {
    const { stdout, exitCode } = await run('copy --help')
    expect(exitCode).toBe(0)
    for (const part of ['Usage: streamtop copy [options] <table...>', '--times <n>', 'Examples:\n  streamtop copy a  copies a', '--workspace <dir>'])
      expect(stdout).toContain(part)
  })

  test('fits 80 columns, for every verb there is', async () => {
    for (const line of ['--help', ...VERBS.map(({ name }) => `${name} --help`)]) {
      const help = await run(line, undefined, { verbs: VERBS })
      for (const row of help.stdout.split('\n')) expect(row.length, row).toBeLessThanOrEqual(80)
      expect(help.stdout.endsWith('\n')).toBe(true)
    }
  })

  test.each([
    ['help', '--help'],
    ['help run', 'run --help'],
  ])('%s is %s', async (words, option) => {
    const help = await run(option, undefined, { verbs: VERBS })
    expect(help).toMatchObject({ exitCode: 0, stdout: expect.stringContaining('Options that every verb takes:') })
    expect(await run(words, undefined, { verbs: VERBS })).toEqual(help)
  })

  test('help of a verb that there is not names it', async () => {
    expect(await run('help rnu', undefined, { verbs: VERBS })).toMatchObject({ exitCode: 2, stdout: '', stderr: expect.stringContaining('did you mean run?') })
  })

  test('--version is that of package.json', async () => {
    expect(VERSION).toBe(packageJson.version)
    expect(await run('--version')).toMatchObject({ exitCode: 0, stdout: `${packageJson.version}\n` })
  })
})

interface Run {
  readonly exitCode: number
  readonly stdout: string
  readonly stderr: string
  /** What the verb was given, without what the test itself put there. */
  readonly context: Omit<Context, 'fx' | 'signal' | 'output'> | undefined
}

/** Runs a command line of three verbs: `copy` remembers what it was given, `fail` throws `thrown`, `one` gives 1. */
async function run(
  line: string,
  thrown?: unknown,
  { showStacks = false, aborted = false, verbs = undefined as readonly Verb[] | undefined } = {},
): Promise<Run> {
  let context: Run['context']
  const copy: Verb = {
    name: 'copy',
    summary: 'copies a table',
    arguments: [{ flags: '<table...>', description: 'the tables' }],
    options: [
      { flags: '--times <n>', description: 'how often', parse: wholeNumber('--times', 1, 9) },
      { flags: '--safe', description: 'carefully' },
      { flags: '--no-safe', description: 'carelessly' },
      { flags: '--unsafe', description: 'neither', conflicts: ['safe'] },
      { flags: '--version <n>', description: 'of the table' },
    ],
    examples: [{ command: 'streamtop copy a', does: 'copies a' }],
    async run({ fx: _fx, signal: _signal, output: _output, ...rest }) {
      context = rest
      return 0
    },
  }
  const fail: Verb = {
    name: 'fail',
    summary: 'fails',
    run: () => {
      throw thrown
    },
  }
  const one: Verb = { name: 'one', summary: 'gives 1', run: async () => 1 }
  const signal = aborted ? AbortSignal.abort() : new AbortController().signal
  const ended = await commandHere('/base', line.split(' ').filter(Boolean), { verbs: verbs ?? [copy, fail, one], signal, showStacks })
  return { ...ended, context }
}
