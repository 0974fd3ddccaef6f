/** The WAL begins anew also where somebody reads nearly all the time. */
import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { checkpointWhenGrown, openDatabase } from '../../src/database.js'

const MOST_BYTES = 10 * 2 ** 20

test('a reader who is there at nine of ten checkpoints does not let the WAL grow without end', () => {
  const folder = mkdtempSync(join(tmpdir(), 'streamtop-wal-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const path = join(folder, 'log.db')
  const [writer, reader] = [openDatabase(path), openDatabase(path)]
  writer.exec('CREATE TABLE blobs (bytes BLOB)')
  writer.pragma('synchronous = OFF')
  const insert = writer.prepare('INSERT INTO blobs VALUES (randomblob(30000))')
  let largest = 0
  for (let round = 1; round <= 800; round++) {
    const isRead = round % 10 !== 0
    // It began before the newest commit, so that a checkpoint cannot move all of the WAL.
    if (isRead) reader.exec('BEGIN; SELECT count(*) FROM blobs')
    insert.run()
    checkpointWhenGrown(writer)
    if (isRead) reader.exec('COMMIT')
    largest = Math.max(largest, statSync(`${path}-wal`).size)
  }
  expect(writer.pragma('busy_timeout', { simple: true })).toBe(5_000)
  for (const database of [writer, reader]) database.close()
  expect(largest).toBeGreaterThan(MOST_BYTES / 4)
  expect(largest).toBeLessThan(MOST_BYTES)
})
