/**
 * Every folder that a real Spark left on disk: read as Spark reads it, and gone on from as Spark goes on, the differences of
 * docs/interop.md aside. `npm run test:fixtures -- FOLDER...` does the same for any folders.
 */
import { readdirSync } from 'node:fs'
import { basename, join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { fixturesIn, readExpected, SPARK_WORKSPACES } from '../spark-fixtures.js'
import { goOn, leaveChecksumBehind, type WentOn } from './go-on.js'
import { knownDifferences } from './known-differences.js'
import { readProblems } from './read-problems.js'

const given: string[] | null = process.env.STREAMTOP_FIXTURES === undefined ? null : JSON.parse(process.env.STREAMTOP_FIXTURES)
const folders = (given ?? fixturesIn(SPARK_WORKSPACES)).map((folder) => ({ folder, name: basename(folder), ...readExpected(folder) }))
const known = knownDifferences()
const shown = new Set<string>()

describe.concurrent('what Spark left', { timeout: 120_000 }, () => {
  for (const { folder, name, story } of folders) {
    test(`reads ${name}: ${story}`, async () => {
      failWith(await readProblems(folder))
    })
  }

  for (const { folder, name, story, next } of folders) {
    if (!next) continue
    test(`goes on from ${name}: ${story}`, async () => {
      checkDifferences(await goOn(folder))
    })
  }
})

if (given === null) {
  test('goes on where a Spark that died left the checksum of its next offsets file', async () => {
    checkDifferences(await goOn(join(SPARK_WORKSPACES, 'source-optimized'), leaveChecksumBehind))
  })

  test('every folder is a fixture, and every difference of docs/interop.md is one of theirs', () => {
    expect(folders.map(({ name }) => name)).toEqual(readdirSync(SPARK_WORKSPACES).sort())
    expect([...shown].sort()).toEqual([...known].sort())
  })
}

function checkDifferences({ differences, problems }: WentOn): void {
  for (const kind of differences) shown.add(kind)
  const unknown = differences.filter((kind) => !known.includes(kind)).map((kind) => `not in the table of docs/interop.md: ${kind}`)
  failWith([...problems, ...unknown])
}

/** Each problem on a line of its own: `npm run test:fixtures` prints them so. */
function failWith(problems: readonly string[]): void {
  if (problems.length > 0) expect.fail(problems.join('\n'))
}
