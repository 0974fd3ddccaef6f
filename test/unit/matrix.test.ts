/** The matrix without its deaths: what each must come to, what is said of one that comes to something else, and wrong usage. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { matrixJson, matrixText } from '../../src/commands/matrix-text.js'
import { type Death, deathsOf, expectedOf, type Outcome, stepText } from '../../src/matrix/deaths.js'
import { judgeDeath } from '../../src/matrix/judgement.js'
import type { PlayedDeath } from '../../src/matrix/play-matrix.js'
import { WAYS } from '../../src/matrix/ways.js'
import { commandHere } from '../command-here.js'

const DEATHS = WAYS.flatMap(deathsOf)

/** `append table-committed`, `apart mid-write:2`. */
function deathNamed(name: string): Death {
  const found = DEATHS.find((death) => `${death.way.name} ${stepText(death)}` === name)
  if (found === undefined) throw new Error(`no death ${name}`)
  return found
}

describe('what a death must come to', () => {
  test('eight steps for each way, and those of a write twice where two tables are written apart', () => {
    expect(WAYS.map((way) => deathsOf(way).length)).toEqual([8, 8, 8, 8, 8, 12, 12, 8, 8])
    expect(deathsOf(deathNamed('apart planned').way).map(stepText).slice(3, 7)).toEqual(['mid-write:1', 'mid-write:2', 'files-written:1', 'files-written:2'])
  })

  test('every row is there once, but for a batch that is in a table which knows no batches', () => {
    const doubled = DEATHS.filter((death) => expectedOf(death).tables.some(({ verdict }) => verdict === 'duplicated'))
    expect(doubled.map((death) => `${death.way.name} ${stepText(death)}`)).toEqual([
      ...['append version-linked', 'append table-committed', 'insert version-linked', 'insert table-committed'],
      ...['apart mid-write:2', 'apart files-written:2', 'apart version-linked:1', 'apart version-linked:2'],
      ...['apart table-committed:1', 'apart table-committed:2', 'together version-linked', 'together table-committed'],
    ])
  })

  test.each([
    ['native offsets-logged', 'bronze_orders 0 → 9', 1],
    ['append planned', 'events_copy 0 → 9', 0],
    ['append table-committed', 'events_copy 9 → 18', 1],
    ['append batch-committed', 'events_copy 9 → 9', 0],
    ['append-txn version-linked', 'events_copy 9 → 9', 1],
    ['insert table-committed', 'orders 8 → 16', 1],
    ['apart mid-write:2', 'apart 9 → 18, apart_audit 0 → 9', 1],
    ['apart version-linked:1', 'apart 9 → 18, apart_audit 0 → 9', 1],
    ['apart version-linked:2', 'apart 9 → 18, apart_audit 9 → 18', 1],
    ['apart-txn mid-write:2', 'apart 9 → 9, apart_audit 0 → 9', 1],
    ['together files-written', 'together 0 → 9, together_audit 0 → 9', 1],
    ['together version-linked', 'together 9 → 18, together_audit 9 → 18', 1],
  ])('%s: %s', (name, rows, replayed) => {
    const expected = expectedOf(deathNamed(name))
    expect(expected.tables.map((table) => `${table.name} ${table.rowsWhenDead} → ${table.rows}`).join(', ')).toBe(rows)
    expect(expected.replayed).toBe(replayed)
  })
})

/** What is judged when one thing that was found is another than it must be. */
function playedWith(name: string, change: Partial<Outcome['tables'][number]> & Partial<Pick<Outcome, 'replayed'>> = {}): PlayedDeath {
  const death = deathNamed(name)
  const { replayed, ...ofTable } = change
  const expected = expectedOf(death)
  const [first, ...others] = expected.tables
  const found = { tables: [{ ...first, ...ofTable }, ...others] as Outcome['tables'], replayed: replayed ?? expected.replayed }
  return { ...judgeDeath({ death, found, problem: null }), workspace: null }
}

describe('what is said', () => {
  test.each([
    [{}, null],
    [{ rowsWhenDead: 9 }, 'events_copy: rows before the restart 9 instead of 0'],
    [{ rows: 18, verdict: 'duplicated' as const }, 'events_copy: rows 18 instead of 9, verdict duplicated instead of exactly-once'],
    [{ distinct: null }, 'events_copy: distinct rows unknown instead of 9'],
    [{ replayed: 0 }, 'replayed 0 instead of 1'],
  ])('of a row with %o', (change, problem) => {
    expect(playedWith('append mid-write', change).problem).toBe(problem)
  })

  test('a row that is not right has a mark and its reason', () => {
    const died = judgeDeath({ death: deathNamed('append-txn planned'), found: null, problem: 'never reached planned' })
    const played = [
      playedWith('append table-committed'),
      playedWith('append-txn mid-write', { rows: 18, verdict: 'duplicated' }),
      { ...died, workspace: 'kept/here' },
      playedWith('apart table-committed:1'),
    ]
    expect(matrixText(played, 80)).toBe(`\
  way of writing  step               rows  distinct  replayed  verdict
✓ append          table-committed      18         9         1  duplicated

✗ append, txn     mid-write            18         9         1  duplicated
✗ append, txn     planned               ?         ?         ?  ?

✓ two apart       table-committed:1  18+9       9+9         1  duplicated

✗ append, txn at mid-write: events_copy: rows 18 instead of 9, verdict
  duplicated instead of exactly-once
✗ append, txn at planned: never reached planned (left for a look: kept/here)
✗ 2 of 4 deaths not as the protocol says
`)
  })

  test('all of it fits 80 columns, and a wide terminal also has what the dead query had left', () => {
    const all = DEATHS.map((death) => playedWith(`${death.way.name} ${stepText(death)}`))
    const lines = matrixText(all, 80).split('\n')
    expect(lines.filter((line) => [...line].length > 80)).toEqual([])
    expect(lines).toContain('✓ 80 deaths, each as the protocol says: 68 exactly-once, 12 duplicated: the')
    const wide = matrixText(all, 120).split('\n')
    expect(wide[0]).toContain('when dead')
    expect(wide.find((line) => line.includes('mid-write:2'))).toMatch(/ 9\+0 +18\+9 +9\+9 +1 {2}duplicated$/)
  })

  test('as JSON, by names that stay', () => {
    const played = [playedWith('apart mid-write:2', { rows: 9, verdict: 'exactly-once' })]
    expect(matrixJson(played, null)).toEqual({
      ...{ format: 1, kafka: null, isRight: false },
      deaths: [
        {
          ...{ way: 'apart', query: 'two_apart', idempotent: false, step: 'mid-write', occurrence: 2, isRight: false, workspace: null },
          problem: 'apart: rows 9 instead of 18, verdict exactly-once instead of duplicated',
          expected: expectedOf(deathNamed('apart mid-write:2')),
          found: {
            tables: [
              { name: 'apart', rowsWhenDead: 9, rows: 9, distinct: 9, verdict: 'exactly-once' },
              { name: 'apart_audit', rowsWhenDead: 0, rows: 9, distinct: 9, verdict: 'exactly-once' },
            ],
            replayed: 1,
          },
        },
      ],
    })
  })
})

describe('the command', () => {
  test('ends with 1 when a death could not be tried', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'streamtop-'))
    onTestFinished(() => rmSync(folder, { recursive: true }))
    writeFileSync(join(folder, 'file'), '')
    vi.stubEnv('TMPDIR', join(folder, 'file'))
    onTestFinished(() => void vi.unstubAllEnvs())
    const { exitCode, stdout } = await commandHere(folder, ['matrix', '--way', 'native', '--step', 'planned'])
    expect({ exitCode, rows: stdout.split('\n').slice(1, 3) }).toEqual({ exitCode: 1, rows: ['✗ native sink     planned     ?         ?         ?  ?', ''] })
    expect(stdout).toMatch(/^✗ native sink at planned: ENOTDIR/m)
  })

  test.each([
    ['--way sideways', '--way takes one of native, append, append-txn, merge, insert, apart, apart-txn,'],
    ['--step never', '--step takes one of planned, offsets-logged, '],
    ['--workspace here', 'a matrix has temporary workspaces of its own'],
    ['--config mine.mjs', 'a matrix has queries of its own'],
    ['--adopt', 'a matrix has nothing to adopt'],
    ['--kafka broker:9092 --way merge', 'with --kafka a matrix has the native sink alone, and --way merge reads a table'],
  ])('matrix %s is wrong usage', async (words, said) => {
    const { exitCode, stdout, stderr } = await commandHere(tmpdir(), ['matrix', ...words.split(' ')])
    expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: '' })
    expect(stderr).toContain(said)
  })
})
