/** Every table that a real Spark left on disk reads here as it read there: rows, distinct rows and operations at each version. */
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join, relative } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { realEffects } from '../../src/effects.js'
import { FileRows } from '../../src/observe/file-rows.js'
import { OverlaidLog } from '../../src/observe/overlaid-log.js'
import { readTableRows } from '../../src/observe/read-table.js'
import { TableCounter } from '../../src/observe/table-counter.js'
import { viewOf } from '../../src/observe/table-view.js'
import { Store } from '../../src/store/store.js'
import type { Snapshot } from '../../src/store/table-log.js'
import { parseVersion } from '../../src/store/version-text.js'
import { type ExpectedTable, fixturesIn, readExpected, SPARK_TABLES, SPARK_WORKSPACES } from '../spark-fixtures.js'
import { readable } from './any-rows.js'

const folder = mkdtempSync(join(tmpdir(), 'streamtop-foreign-'))
afterAll(() => rmSync(folder, { recursive: true }))

const workspaces = fixturesIn(SPARK_WORKSPACES)
const moreTables = fixturesIn(SPARK_TABLES)
const folders = [...workspaces, ...moreTables].map((path) => ({ name: basename(path), path }))

test('all fixtures are here', () => {
  expect([workspaces.length, moreTables.length]).toEqual([38, 9])
})

describe.each(folders)('$name', ({ name, path }) => {
  const { tables } = readExpected(path)

  test('taken over', async () => {
    const workspace = join(folder, name)
    cpSync(join(path, 'tables'), join(workspace, 'tables'), { recursive: true })
    const store = Store.open(workspace, realEffects)
    try {
      expect(store.tableNames()).toEqual(Object.keys(tables).sort())
      for (const [table, expected] of Object.entries(tables)) {
        const known = store.log.table(table)
        const texts = store.log.versions(known?.tableKey ?? -1, 1000)
        checkHistory(expected, texts)
        for (const { version, text } of texts) expect(text).toBe(readFileSync(versionFile(join(workspace, 'tables', table), version), 'utf8'))
        await checkVersions(expected, async (version) => {
          const snapshot = store.snapshot(table, version) as Snapshot
          return readable(await store.read(table, snapshot.schema, snapshot.files))
        })
        checkNewest(expected, store.snapshot(table) as Snapshot)
      }
    } finally {
      store.close()
    }
  })

  test('as it lies there, not a byte changed', async () => {
    const workspace = path
    const before = fingerprint(workspace)
    const log = OverlaidLog.open(workspace, realEffects)
    const fileRows = new FileRows(log.tablesFolder, realEffects)
    try {
      expect(log.tableNames()).toEqual(Object.keys(tables).sort())
      for (const [table, expected] of Object.entries(tables)) {
        expect(log.errorOf(table)).toBeNull()
        checkHistory(expected, log.history(table, 1000))
        await checkVersions(expected, async (version) => {
          log.snapshot(table, version)
          return readable((await readTableRows(workspace, table, { version }, realEffects))?.columns ?? expect.fail('no such table'))
        })
        checkNewest(expected, log.snapshot(table) as Snapshot)
        // One counter goes from version to version, as the dashboard's does.
        const counter = new TableCounter()
        for (const [version, { rows, distinct }] of inOrder(expected)) {
          if (rows === null) continue
          const view = viewOf(log, table, version) ?? expect.fail('no such table')
          expect(await counter.count(view, fileRows)).toEqual({ version, rows, distinct })
        }
      }
    } finally {
      fileRows.close()
      log.close()
    }
    expect(fingerprint(workspace)).toEqual(before)
  })
})

function checkHistory(
  expected: ExpectedTable,
  history: readonly { readonly version: number; readonly operation: string | null; readonly text: string }[],
): void {
  const operations = Object.fromEntries(history.map(({ version, operation }) => [version, operation]))
  expect(operations).toEqual(Object.fromEntries(inOrder(expected).map(([version, { operation }]) => [version, operation])))
  const txns = new Map<string, number>()
  for (const { version, text } of [...history].reverse()) for (const txn of parseVersion(text, `version ${version}`).txns) txns.set(txn.appId, txn.version)
  expect(Object.fromEntries(txns)).toEqual(expected.txnInJson)
}

async function checkVersions(expected: ExpectedTable, readRows: (version: number) => Promise<(string | null)[][]>): Promise<void> {
  const counted: Record<string, unknown> = {}
  let newest: (string | null)[][] = []
  for (const [version, { operation, rows }] of inOrder(expected)) {
    if (rows === null) {
      await expect(readRows(version)).rejects.toMatchObject({ condition: 'DELTA_VERSION_NOT_FOUND' })
      counted[version] = { operation, rows: null, distinct: null }
      continue
    }
    newest = await readRows(version)
    counted[version] = { operation, rows: newest.length, distinct: new Set(newest.map((row) => JSON.stringify(row))).size }
  }
  expect(counted).toEqual(expected.versions)
  if (expected.rows) expect(sorted(newest)).toEqual(sorted(expected.rows))
}

function checkNewest(expected: ExpectedTable, snapshot: Snapshot): void {
  expect(snapshot.version).toBe(Math.max(...Object.keys(expected.versions).map(Number)))
  expect(snapshot.schema.columns.map((column) => column.name)).toEqual(expected.columns)
  expect(Object.fromEntries([...snapshot.txns.values()].map((txn) => [txn.appId, txn.version]))).toMatchObject(expected.txnInJson)
}

function inOrder(expected: ExpectedTable) {
  return Object.entries(expected.versions)
    .map(([version, facts]) => [Number(version), facts] as const)
    .sort(([a], [b]) => a - b)
}

function sorted(rows: readonly (readonly (string | null)[])[]): string[] {
  return rows.map((row) => JSON.stringify(row)).sort()
}

function versionFile(tableFolder: string, version: number): string {
  return join(tableFolder, '_delta_log', `${String(version).padStart(20, '0')}.json`)
}

/** Every file with its bytes and its time, and every folder. */
function fingerprint(root: string): Record<string, string> {
  const entries = readdirSync(root, { recursive: true, withFileTypes: true }).map((entry) => {
    const path = join(entry.parentPath, entry.name)
    return [relative(root, path), entry.isFile() ? `${statSync(path).mtimeMs} ${readFileSync(path, 'base64')}` : 'folder']
  })
  return Object.fromEntries(entries)
}
