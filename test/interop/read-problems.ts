/**
 * Reads a folder that Spark left as it lies there, and says where that differs from what Spark read in it: rows, distinct rows,
 * versions, operations, txns; ids, source lines, offsets and commits. Nothing may change, and nothing may need to be written.
 */
import { chmodSync, cpSync, mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import type { HistoryLine } from '../../src/observe/table-history.js'
import type { JsonValue } from '../../src/observe/json-rows.js'
import type { Status } from '../../src/observe/status.js'
import { type Expected, type ExpectedCheckpoint, type ExpectedTable, readExpected } from '../spark-fixtures.js'
import { commandHere } from '../command-here.js'
import { changesBetween, type Ended, listing, streamtop, userWithoutRights } from './command.js'

type TextRow = readonly (string | null)[]

/** What is read otherwise than Spark reads it, as sentences; none when all is well. */
export async function readProblems(folder: string): Promise<string[]> {
  const expected = readExpected(folder)
  const before = listing(folder)
  const problems = statusProblems(parsed(await commandHere(folder, ['status', '--json'])), expected)
  for (const [table, one] of Object.entries(expected.tables)) {
    problems.push(...(await historyProblems(folder, table, one)))
    problems.push(...(await rowProblems(folder, table, one)))
  }
  problems.push(...changesBetween(before, listing(folder)).map((change) => `reading: ${change}`))
  problems.push(...(await readOnlyProblems(folder, expected)))
  return problems
}

/** The built command on a copy in which nobody may write. */
async function readOnlyProblems(folder: string, expected: Expected): Promise<string[]> {
  const userId = userWithoutRights()
  const copy = mkdtempSync(join(tmpdir(), 'streamtop-read-only-'))
  try {
    cpSync(folder, copy, { recursive: true })
    setModes(copy, 0o555, 0o444)
    const before = listing(copy)
    const ended = await streamtop(copy, ['status', '--json'], userId ?? undefined)
    const problems = [...statusProblems(parsed(ended), expected), ...changesBetween(before, listing(copy))]
    return problems.map((problem) => `read-only: ${problem}`)
  } finally {
    setModes(copy, 0o755, 0o644)
    rmSync(copy, { recursive: true })
  }
}

function setModes(root: string, ofFolders: number, ofFiles: number): void {
  const isFolder = statSync(root).isDirectory()
  if (isFolder && (ofFolders & 0o200) !== 0) chmodSync(root, ofFolders)
  if (isFolder) for (const name of readdirSync(root)) setModes(join(root, name), ofFolders, ofFiles)
  chmodSync(root, isFolder ? ofFolders : ofFiles)
}

function statusProblems(status: Status, expected: Expected): string[] {
  const check = checks()
  check.same('errors of the workspace', status.errors, [])
  check.same('tables', names(status.tables), Object.keys(expected.tables).sort())
  for (const [name, { versions }] of Object.entries(expected.tables)) {
    const table = status.tables.find((one) => one.name === name)
    const version = Math.max(...Object.keys(versions).map(Number))
    check.same(`version of ${name}`, table?.version, version)
    check.same(`rows of ${name}`, [table?.rows, table?.distinct, table?.countsVersion], [versions[version]?.rows, versions[version]?.distinct, version])
    check.same(`error of ${name}`, table?.error, null)
  }
  const checkpoints = expected.checkpoints ?? {}
  const shown = status.queries.filter(({ id, offsets, commits }) => id !== null || offsets.length > 0 || commits.length > 0)
  check.same('checkpoints', names(shown), Object.keys(checkpoints).sort())
  for (const [name, one] of Object.entries(checkpoints)) {
    const query = status.queries.find((found) => found.name === name)
    check.same(`id of ${name}`, query?.id, one.id)
    check.same(`offsets of ${name}`, query?.offsets, newest(one.offsets))
    check.same(`commits of ${name}`, query?.commits, newest(one.commits))
    check.same(`source lines of ${name}`, query?.sourceLines, sourceLines(one))
    // Only a checkpoint that a start could go on from says where its newest batch ends.
    const ends = sourceLines(one).map((line) => (query?.lastError === null ? JSON.parse(line) : null))
    if (query?.lastError === null) check.same(`end of ${name}`, query.endOffset, ends.length === 1 ? ends[0] : ends)
  }
  return check.problems
}

const SHOWN_IDS = 5

/** As the status has them: the newest first. A log that is not there has none. */
function newest(ids: readonly number[] | null): number[] {
  return [...(ids ?? [])].sort((a, b) => b - a).slice(0, SHOWN_IDS)
}

/** The end of a last line is no further line. */
function sourceLines({ sources }: ExpectedCheckpoint): readonly string[] {
  const lines = sources ?? []
  return lines.at(-1) === '' ? lines.slice(0, -1) : lines
}

async function historyProblems(folder: string, table: string, expected: ExpectedTable): Promise<string[]> {
  const ended = await commandHere(folder, ['history', table, '--limit', '1000000', '--json'])
  const { versions } = parsed<{ readonly versions: readonly HistoryLine[] }>(ended)
  const check = checks()
  const operations = Object.entries(expected.versions).map(([version, { operation }]) => [Number(version), operation] as const)
  check.same(
    `history of ${table}`,
    versions.map(({ version, operation }) => [version, operation]),
    operations.sort(([a], [b]) => b - a),
  )
  const txns = [...versions].reverse().flatMap((line) => line.txns.map(({ appId, version }) => [appId, version] as const))
  check.same(`txns of ${table}`, Object.fromEntries(txns), expected.txnInJson)
  return check.problems
}

async function rowProblems(folder: string, table: string, expected: ExpectedTable): Promise<string[]> {
  const check = checks()
  const versions = Object.entries(expected.versions).sort(([a], [b]) => Number(a) - Number(b))
  for (const [version, { rows, distinct }] of versions) {
    const ended = await commandHere(folder, ['show', table, '--version', version, '--limit', '1000000000', '--json'])
    if (rows === null) {
      check.same(`version ${version} of ${table}, which Spark cannot read`, ended.exitCode, 1)
      check.same(`the name of that error`, JSON.parse(ended.stderr).error.condition, 'DELTA_VERSION_NOT_FOUND')
      continue
    }
    const found = parsed<{ readonly version: number; readonly rows: readonly Readonly<Record<string, JsonValue>>[] }>(ended)
    check.same(`version that show tells for ${version} of ${table}`, found.version, Number(version))
    const texts = found.rows.map((row) => Object.values(row).map(asText))
    const names = Object.keys(found.rows[0] ?? {})
    // What JSON has as a number is compared as one: Spark's cast writes 1.0E10 where JSON has 10000000000.
    const isNumber = names.map((name) => found.rows.some((row) => typeof row[name] === 'number'))
    const comparable = (row: TextRow) => keyOf(row.map((text, column) => (isNumber[column] ? numberText(text) : text)))
    const different = new Set(texts.map((row) => comparable(row.map((text, column) => (isNumber[column] && text === '-0.0' ? '0' : text)))))
    check.same(`rows of ${table} at version ${version}`, [texts.length, different.size], [rows, distinct])
    if (version === versions.at(-1)?.[0] && expected.rows !== null) {
      if (texts.length > 0) check.same(`columns of ${table}`, names, expected.columns)
      check.sameRows(`newest rows of ${table}`, texts.map(comparable), expected.rows.map(comparable))
    }
  }
  return check.problems
}

function asText(value: JsonValue): string | null {
  return value === null ? null : String(value)
}

function numberText(text: string | null): string | null {
  if (text === null || !Number.isFinite(Number(text))) return text
  return Object.is(Number(text), -0) ? '-0' : String(Number(text))
}

function keyOf(row: TextRow): string {
  return JSON.stringify(row)
}

/** Finds differences and goes on. */
function checks() {
  const problems: string[] = []
  return {
    problems,
    same(what: string, found: unknown, expected: unknown): void {
      if (!isDeepStrictEqual(found, expected)) problems.push(`${what}: ${JSON.stringify(found)}, and Spark has ${JSON.stringify(expected)}`)
    },
    /** Whatever their order. */
    sameRows(what: string, found: readonly string[], expected: readonly string[]): void {
      if (isDeepStrictEqual([...found].sort(), [...expected].sort())) return
      const sentences = [
        ...found.filter((row) => !expected.includes(row)).map((row) => `${what}: Spark has no ${row}`),
        ...expected.filter((row) => !found.includes(row)).map((row) => `${what}: Spark has ${row}`),
      ]
      problems.push(
        ...(sentences.length > 0 ? sentences : [`${what}: the same rows, but not each as often: ${found.length}, and Spark has ${expected.length}`]),
      )
    },
  }
}

function names(named: readonly { readonly name: string }[]): string[] {
  return named.map(({ name }) => name).sort()
}

function parsed<T = Status>({ exitCode, stdout, stderr }: Ended): T {
  if (exitCode !== 0) throw new Error(`the command failed (${exitCode}): ${stderr}`)
  return JSON.parse(stdout)
}
