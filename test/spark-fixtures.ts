/** The folders that a real Spark left on disk (`fixtures/README.md`): where they lie, and what their `expected.json` says. */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** Whole workspaces, and tables alone. */
export const SPARK_WORKSPACES = join(import.meta.dirname, 'fixtures', 'spark')
export const SPARK_TABLES = join(import.meta.dirname, 'fixtures', 'spark-tables')

/** What Spark read in a folder, and what it did next. */
export interface Expected {
  /** What happened, in a sentence. */
  readonly story: string
  readonly tables: Readonly<Record<string, ExpectedTable>>
  /** By query; absent for tables alone. */
  readonly checkpoints?: Readonly<Record<string, ExpectedCheckpoint>>
  /** Null where only reading is asked. */
  readonly next?: ExpectedNext | null
}

export interface ExpectedTable {
  /** Rows are null where Spark could not read the version. */
  readonly versions: Readonly<Record<string, { readonly operation: string; readonly rows: number | null; readonly distinct: number | null }>>
  /** The newest txn of each app id, from the JSON files that are there. */
  readonly txnInJson: Readonly<Record<string, number>>
  readonly columns: readonly string[]
  /** The newest rows as Spark's cast to string, binary as hex; null above 60 rows. */
  readonly rows: readonly (readonly (string | null)[])[] | null
}

export interface ExpectedCheckpoint {
  /** Null when `metadata` is gone. */
  readonly id: string | null
  /** Numbers of the files; null for a log that is not there. */
  readonly offsets: readonly number[] | null
  readonly commits: readonly number[] | null
  /** The source lines of the newest offsets file that has any. */
  readonly sources: readonly string[] | null
}

/** What came of it when Spark ran the query again on a copy. */
export interface ExpectedNext {
  readonly query: string
  /** The options of `streamtop run` that ask for the same. */
  readonly run: readonly string[]
  readonly sink: string
  /** Null when there is no such table. */
  readonly rows: number | null
  readonly distinct: number | null
  readonly version: number | null
  readonly offsets: readonly number[] | null
  readonly commits: readonly number[] | null
  readonly error: { readonly condition: string | null; readonly sentence: string } | null
}

export function readExpected(folder: string): Expected {
  return JSON.parse(readFileSync(join(folder, 'expected.json'), 'utf8'))
}

/** The folders with an `expected.json` directly below a folder, by path, in order. */
export function fixturesIn(folder: string): string[] {
  return readdirSync(folder)
    .sort()
    .map((name) => join(folder, name))
    .filter((path) => existsSync(join(path, 'expected.json')))
}

/** The folder of one of the workspaces. */
export function sparkWorkspace(name: string): string {
  return join(SPARK_WORKSPACES, name)
}

/** The checkpoint of a workspace that has one. */
export function sparkCheckpoint(name: string): string {
  const folder = join(SPARK_WORKSPACES, name, 'checkpoints')
  const [query, ...others] = existsSync(folder) ? readdirSync(folder) : []
  if (query === undefined || others.length > 0) throw new Error(`${name} has not exactly one checkpoint`)
  return join(folder, query)
}
