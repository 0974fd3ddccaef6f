/** What lies in a workspace, as texts that can be compared: rows as streamtop reads them, the log's versions, a checkpoint's two logs. */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { realEffects } from '../../src/effects.js'
import { type JsonValue, jsonRows } from '../../src/observe/json-rows.js'
import { readTableRows } from '../../src/observe/read-table.js'
import type { TextRow } from './spark-worker.js'

/** The rows of a table at a version as `streamtop show --json` has them, each value as a text. */
export async function readRows(workspace: string, table: string, version?: number): Promise<TextRow[]> {
  const found = await readTableRows(workspace, table, { version }, realEffects)
  if (found === null) throw new Error(`there is no table ${table}`)
  const doubles = new Set(found.columns.schema.columns.filter(({ type }) => type.kind === 'double').map(({ name }) => name))
  return jsonRows(found.columns, Number.POSITIVE_INFINITY).map((row) => Object.entries(row).map(([name, value]) => textOf(value, doubles.has(name))))
}

function textOf(value: JsonValue, isDouble: boolean): string | null {
  if (value === null) return null
  return isDouble ? doubleText(Number(value)) : String(value)
}

/** A double's eight bytes, so that -0.0 is not 0.0; NaN is one, whatever its bits. */
export function doubleText(value: number): string {
  if (Number.isNaN(value)) return 'NaN'
  const bytes = Buffer.alloc(8)
  bytes.writeDoubleBE(value)
  return bytes.toString('hex')
}

/** Rows as lines in a fixed order: two tables hold the same multiset of rows when these are equal. */
export function sortedLines(rows: readonly TextRow[]): string[] {
  return rows.map((row) => JSON.stringify(row)).sort()
}

export interface LoggedVersion {
  readonly operation: string
  readonly engine: string
  readonly txns: readonly { readonly appId: string; readonly version: number }[]
}

/** The versions of a table, read from `_delta_log` alone. All are there: nobody cleans up so young a log. */
export function readVersions(workspace: string, table: string): LoggedVersion[] {
  const log = join(workspace, 'tables', table, '_delta_log')
  const files = existsSync(log) ? readdirSync(log).filter((name) => /^\d{20}\.json$/.test(name)) : []
  return files.sort().map((file, version) => {
    if (Number(file.slice(0, 20)) !== version) throw new Error(`${table} lacks version ${version}`)
    let operation = ''
    let engine = ''
    const txns: { appId: string; version: number }[] = []
    for (const line of readFileSync(join(log, file), 'utf8').trimEnd().split('\n')) {
      const action = JSON.parse(line) as { commitInfo?: { operation: string; engineInfo: string }; txn?: { appId: string; version: number } }
      if (action.commitInfo) {
        operation = action.commitInfo.operation
        engine = action.commitInfo.engineInfo.startsWith('Apache-Spark') ? 'spark' : 'streamtop'
      }
      if (action.txn) txns.push({ appId: action.txn.appId, version: action.txn.version })
    }
    return { operation, engine, txns }
  })
}

export interface FoundCheckpoint {
  readonly id: string | null
  /** By batch: the source's position at its end, without the table's id. */
  readonly offsets: Readonly<Record<string, unknown>>
  readonly commits: readonly number[]
}

export function readCheckpoint(workspace: string, query: string): FoundCheckpoint {
  const folder = join(workspace, 'checkpoints', query)
  const metadata = join(folder, 'metadata')
  const offsets = numbersIn(join(folder, 'offsets')).map((batch) => {
    const [, , source = ''] = readFileSync(join(folder, 'offsets', String(batch)), 'utf8').split('\n')
    const { reservoirId: _, ...position } = JSON.parse(source) as Record<string, unknown>
    return [String(batch), position] as const
  })
  return {
    id: existsSync(metadata) ? (JSON.parse(readFileSync(metadata, 'utf8')) as { id: string }).id : null,
    offsets: Object.fromEntries(offsets),
    commits: numbersIn(join(folder, 'commits')),
  }
}

function numbersIn(folder: string): number[] {
  const names = existsSync(folder) ? readdirSync(folder) : []
  return names
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .sort((a, b) => a - b)
}
