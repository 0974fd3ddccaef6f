/** The cache of row hashes is not synced, so what it says may be made of pages of several moments: then it says nothing. */
import Database from 'better-sqlite3'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { realEffects as fx } from '../../src/effects.js'
import { columnsFromRows } from '../../src/store/columns-from-rows.js'
import { countsPathOf, RowCounts } from '../../src/store/row-counts.js'

const ROWS = columnsFromRows({ columns: [{ name: 'a', type: { kind: 'long' }, nullable: true }] }, [{ a: 1n }, { a: 2n }])

test.each([
  ['its hashes are of another row', "UPDATE row_hashes SET hashes = (SELECT hashes FROM row_hashes WHERE path = 't/other') WHERE path = 't/one'"],
  ['a bit of its hashes is another', "UPDATE row_hashes SET hashes = zeroblob(length(hashes)) WHERE path = 't/one'"],
  ['it lies under another path', "UPDATE row_hashes SET path = CASE path WHEN 't/one' THEN 't/new' ELSE 't/one' END"],
  ['its records are others', `UPDATE row_hashes SET offsets = '{"0":[[0,1]]}' WHERE path = 't/one'`],
])('a row is not there when %s', (_, damage) => {
  const folder = mkdtempSync(join(tmpdir(), 'streamtop-counts-'))
  try {
    const counts = RowCounts.open(folder, fx)
    counts.put([
      { table: 't', path: 'one', columns: ROWS },
      { table: 't', path: 'other', columns: columnsFromRows(ROWS.schema, [{ a: 3n }]) },
    ])
    expect(counts.find('t', 'one')).toHaveLength(8)
    counts.close()
    const database = new Database(countsPathOf(folder))
    database.exec(damage)
    database.close()
    const read = RowCounts.openForReading(folder, fx)
    expect(read?.find('t', 'one')).toBeNull()
    expect(read?.findOffsets('t', 'one')).toBeNull()
    read?.close()
  } finally {
    rmSync(folder, { recursive: true })
  }
})
