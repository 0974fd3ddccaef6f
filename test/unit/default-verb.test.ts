/** A command line without a verb: what happens by default, with its options, and what is told of it. */
import { describe, expect, test } from 'vitest'
import { VERBS } from '../../src/commands/registry.js'
import type { Context, Verb } from '../../src/commands/verb.js'
import { commandHere } from '../command-here.js'

describe('without a verb', () => {
  test('the default one runs, with its own options and those of every verb, in any order', async () => {
    expect(await run('')).toMatchObject({ exitCode: 0, context: { options: {}, workspace: '/base' } })
    expect(await run('--loud --workspace w --times 3')).toMatchObject({ context: { options: { loud: true, times: '3' }, workspace: '/base/w' } })
    expect(await run('--workspace w --loud --json')).toMatchObject({ context: { options: { loud: true }, workspace: '/base/w', json: true } })
    expect(await run('watch --loud')).toMatchObject({ context: { options: { loud: true } } })
  })

  test.each([
    ['cpy', "streamtop: unknown verb 'cpy'\n", 'did you mean copy? If not, see "streamtop --help"\n'],
    ['--loud cpy', "streamtop: unknown verb 'cpy'\n", 'did you mean copy? If not, see "streamtop --help"\n'],
    ['zzzzzz', "streamtop: unknown verb 'zzzzzz'\n", 'see "streamtop --help"\n'],
    ['--lod', "streamtop: unknown option '--lod'\n", 'did you mean --loud? If not, see "streamtop --help"\n'],
    ['--loud copy', 'streamtop: the verb copy stands behind options that it does not take (--loud)\n', 'see "streamtop copy --help"\n'],
  ])('streamtop %s: exit 2', async (line, happened, todo) => {
    expect(await run(line)).toMatchObject({ exitCode: 2, stdout: '', stderr: happened + todo, context: undefined })
  })

  test('help tells the options of the default one after the verbs, and does not list it', async () => {
    const { stdout } = await commandHere('/base', ['--help'])
    expect(stdout).toMatch(/^Usage: streamtop \[VERB\] \[options\]\n/)
    expect(stdout).not.toMatch(/^ {2}dashboard\b/m)
    const titles = [...stdout.matchAll(/^(\S[^\n]*):$/gm)].map(({ 1: title }) => title)
    expect(titles.slice(0, 2)).toEqual(['Verbs', 'Options of the dashboard, which opens without a verb'])
    for (const { flags } of VERBS.find(({ isDefault }) => isDefault)?.options ?? []) expect(stdout).toContain(`  ${flags} `)
    for (const line of stdout.split('\n')) expect(line.length).toBeLessThanOrEqual(80)
  })
})

async function run(line: string) {
  let context: Context | undefined
  const keep = (seen: Context) => {
    context = seen
    return Promise.resolve(0)
  }
  const verbs: readonly Verb[] = [
    {
      ...{ name: 'watch', isDefault: true, summary: 'watches', run: keep },
      options: [
        { flags: '--loud', description: 'loud' },
        { flags: '--times <n>', description: 'so often' },
      ],
    },
    { name: 'copy', summary: 'copies', run: keep },
  ]
  const words = line.split(' ').filter((word) => word !== '')
  return { ...(await commandHere('/base', words, { verbs })), context }
}
