/**
 * Files that are cut and files with a flipped bit: whoever reads the workspace then, and whoever goes on with it, hears a named error or
 * comes to the right answer; and once the file is back, all is right again.
 *
 * The cases are drawn by the seed. `STREAMTOP_DAMAGES=N` takes N of each file, and `all` every byte of what is small, which takes hours.
 */
import { existsSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { SEED } from '../seed.js'
import { newStory, type Story } from '../stories/workspace.js'
import { type Random, randomOf } from '../torture/random.js'
import {
  type Damage,
  damageFile,
  differenceOf,
  filesOf,
  makeSame,
  named,
  OWN,
  rowsOfAll,
  runAll,
  SPARK,
  type Subject,
  sparkWorkspaceWithWork,
  type Told,
  told,
  workspaceWithWork,
} from './damaged-workspace.js'

// Nothing here depends on a sync, and a file system in memory has more damages in a second.
if (existsSync('/dev/shm')) process.env['TMPDIR'] = '/dev/shm'

const CHOSEN = process.env['STREAMTOP_DAMAGES'] ?? '3'
/** Of a larger file the two ends and a sample. */
const SMALL_BYTES = 4_096
const END_BYTES = 1_024
const SAMPLE = 1_000
const CASE_MS_MAX = 20_000

/** What a case came to: a code, `harmless`, or a sentence that begins with WRONG. */
type Outcome = string
const WRONG = 'WRONG'

const stories: Story[] = []
afterAll(() => {
  for (const story of stories) story.remove()
})
function keep(story: Story): Story {
  stories.push(story)
  return story
}

test('a workspace of streamtop: no damage gives another answer, loses a row or makes it worse', async () => {
  await damageAll(OWN, keep(await workspaceWithWork()))
})

test('a workspace of Spark: the same, as far as Spark wrote what tells it', async () => {
  await damageAll(SPARK, keep(sparkWorkspaceWithWork()))
})

async function damageAll(subject: Subject, undamaged: Story): Promise<void> {
  const random = randomOf(`damage ${SEED}`)
  const bench = await benchOf(subject, undamaged)
  const outcomes = new Map<string, number>()
  const wrong: string[] = []
  let cases = 0
  for (const file of filesOf(undamaged.folder)) {
    for (const damage of damagesOf(file, readFileSync(undamaged.path(file)), random)) {
      cases++
      const begunMs = performance.now()
      for (const outcome of [await outcomeOfRead(bench, file, damage), await outcomeOfRun(bench, file, damage)]) {
        const isTold = !outcome.startsWith(WRONG)
        const isTrusted = outcome.startsWith(`${WRONG} answer`) && damage.kind === 'flip' && subject.isTrusted(file)
        const key = isTold ? outcome : isTrusted ? 'not noticed, where nothing could tell' : 'violations'
        outcomes.set(key, (outcomes.get(key) ?? 0) + 1)
        if (!isTold && !isTrusted) wrong.push(`${file} ${JSON.stringify(damage)}: ${outcome}`)
      }
      if (performance.now() - begunMs > CASE_MS_MAX) wrong.push(`${file} ${JSON.stringify(damage)}: took ${Math.round(performance.now() - begunMs)} ms`)
    }
  }
  const summary = [...outcomes].sort((a, b) => b[1] - a[1]).map(([what, count]) => `${what} ${count}`)
  console.log(`${subject.name}, seed ${SEED}: ${cases} damages, each read and run: ${summary.join(', ')}; violations ${wrong.length}`)
  expect(wrong).toEqual([])
}

/** What the cases of one subject are tried on. */
interface Bench {
  readonly subject: Subject
  readonly undamaged: Story
  /** Damaged and restored in place, for readers write nothing. */
  readonly read: Story
  /** Made anew for each case. */
  readonly run: Story
  readonly told: Told
  rowsAfter(queries: Subject['queries']): Promise<Awaited<ReturnType<typeof rowsOfAll>>>
}

async function benchOf(subject: Subject, undamaged: Story): Promise<Bench> {
  const read = keep(newStory(undamaged))
  const known = new Map<string, Awaited<ReturnType<typeof rowsOfAll>>>()
  const rowsAfter: Bench['rowsAfter'] = async (queries) => {
    const key = queries.map(({ name }) => name).join()
    const story = newStory(undamaged)
    await runAll(story, queries)
    const rows = known.get(key) ?? (await rowsOfAll(subject, story.folder))
    known.set(key, rows)
    story.remove()
    return rows
  }
  return {
    subject,
    undamaged,
    read,
    run: keep(newStory()),
    told: await told(subject, read.folder),
    rowsAfter: async (queries) => known.get(queries.map(({ name }) => name).join()) ?? rowsAfter(queries),
  }
}

async function outcomeOfRead({ subject, read, told: before }: Bench, file: string, damage: Damage): Promise<Outcome> {
  const restore = damageFile(read.folder, file, damage)
  try {
    const seen = await told(subject, read.folder)
    const known = new Set(before.errors.map(({ code, message }) => code + message))
    const [news] = seen.errors.filter(({ code, message }) => !known.has(code + message))
    if (news) return news.isNamed ? news.code : `${WRONG} error: ${news.code}: ${news.message}`
    for (const [what, answer] of Object.entries(before.answers)) {
      const difference = differenceOf(answer, seen.answers[what])
      if (difference !== null) return `${WRONG} answer: ${what}: ${difference}`
    }
    return 'harmless'
  } finally {
    restore()
  }
}

async function outcomeOfRun({ subject, undamaged, run, rowsAfter }: Bench, file: string, damage: Damage): Promise<Outcome> {
  const queries = subject.queriesBeside(file)
  const expected = await rowsAfter(queries)
  makeSame(undamaged.folder, run.folder)
  const restore = damageFile(run.folder, file, damage)
  const outcome = await outcomeOfGoingOn(subject, run, queries, expected)
  // What SQLite keeps beside a database belongs to the one that is replaced.
  if (file.endsWith('.db')) for (const suffix of ['-wal', '-shm', '-journal']) rmSync(join(run.folder, file + suffix), { force: true })
  restore()
  const restored = await outcomeOfGoingOn(subject, run, queries, expected)
  // Where nothing could tell, what was read has been recorded: then the file that is back is the one that does not fit, and that is said.
  if (!restored.startsWith(WRONG) && subject.isTrusted(file)) return outcome === 'harmless' ? restored : outcome
  // An answer that was wrong stays in the tables.
  return restored === 'harmless' || outcome.startsWith(`${WRONG} answer`) ? outcome : `${WRONG} after the file was restored (${outcome} before): ${restored}`
}

async function outcomeOfGoingOn(subject: Subject, story: Story, queries: Subject['queries'], expected: unknown): Promise<Outcome> {
  try {
    await runAll(story, queries)
    const difference = differenceOf(expected, await rowsOfAll(subject, story.folder))
    return difference === null ? 'harmless' : `${WRONG} answer: ${difference}`
  } catch (error) {
    const { code, message, isNamed } = named(error)
    return isNamed ? code : `${WRONG} error: ${code}: ${message}`
  }
}

function damagesOf(file: string, bytes: Buffer, random: Random): Damage[] {
  const ends = [...Array.from({ length: END_BYTES }, (_, at) => at), ...Array.from({ length: END_BYTES }, (_, at) => bytes.length - 1 - at)]
  const places = bytes.length <= SMALL_BYTES ? [...bytes.keys()] : [...ends, ...Array.from({ length: SAMPLE }, () => random.below(bytes.length))]
  // Most of a database is free space, in which nothing can go wrong.
  const used = file.endsWith('.db') ? places.filter((at) => bytes[at] !== 0) : places
  const all = used.flatMap((at): Damage[] => [
    { kind: 'cut', at },
    { kind: 'flip', at, bit: random.below(8) },
  ])
  return CHOSEN === 'all' ? all : Array.from({ length: Math.min(Number(CHOSEN), all.length) }, () => random.oneOf(all))
}
