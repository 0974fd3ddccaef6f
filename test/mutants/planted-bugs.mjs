import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

/**
 * Bugs of the protocol, each planted alone in a copy of src: each must be found. `find` is a text of the file, once in it;
 * `findBy` says who is expected to find it: `schedules` (test/torture) or `power loss` (test/power-loss).
 *
 * @typedef {{file: string, find: string, replace: string}} Edit
 * @type {readonly {name: string, stands: string, edits: readonly Edit[], findBy?: 'power loss'}[]}
 */
export const PLANTED_BUGS = [
  {
    name: 'commit-before-table',
    stands: 'the batch is called done before its rows are in the table',
    edits: [
      {
        file: 'src/engine/query.ts',
        find: '    const isRestart = work.pendingEnd',
        replace: '    createCommit(folder, batchId, work.watermarkMs, fx)\n    const isRestart = work.pendingEnd',
      },
      {
        file: 'src/engine/query.ts',
        find: "    createCommit(folder, batchId, work.watermarkMs, fx)\n    clock.lap('commitOffsets')",
        replace: "    clock.lap('commitOffsets')",
      },
    ],
  },
  {
    name: 'offsets-after-data',
    stands: 'the range is fixed only after its rows were written',
    edits: [
      {
        file: 'src/engine/query.ts',
        find: '      createOffsets(folder, batchId, { watermarkMs: work.watermarkMs, timestampMs, conf: work.conf, sources: [end] }, fx)\n',
        replace: '',
      },
      {
        file: 'src/engine/query.ts',
        find: "    createCommit(folder, batchId, work.watermarkMs, fx)\n    clock.lap('commitOffsets')",
        replace:
          "    if (work.pendingEnd === null) createOffsets(folder, batchId, { watermarkMs: work.watermarkMs, timestampMs, conf: work.conf, sources: [end] }, fx)\n    createCommit(folder, batchId, work.watermarkMs, fx)\n    clock.lap('commitOffsets')",
      },
    ],
  },
  {
    name: 'range-planned-again',
    stands: 'a batch that runs again takes what is there now',
    edits: [
      {
        file: 'src/engine/query.ts',
        find: 'work.pendingEnd ?? (await life.trigger.next(work.start, clock.hasWaited))',
        replace: '(await life.trigger.next(work.start, clock.hasWaited)) ?? work.pendingEnd',
      },
    ],
  },
  {
    name: 'time-of-the-attempt',
    stands: 'a batch that runs again is told another time than the logged one',
    edits: [{ file: 'src/engine/query.ts', find: 'work.pendingEnd === null ? fx.nowMs() : work.timestampMs', replace: 'fx.nowMs()' }],
  },
  {
    name: 'same-attempt',
    stands: 'an attempt has the number of the one before',
    edits: [
      {
        file: 'src/engine/query.ts',
        find: 'store.ledger.attemptCount(queryId, batchId) + 1',
        replace: 'Math.max(1, store.ledger.attemptCount(queryId, batchId))',
      },
    ],
  },
  {
    name: 'pending-taken-as-done',
    stands: 'a start takes the newest batch as done although it has no commit',
    edits: [{ file: 'src/engine/start.ts', find: 'if (commit !== null && committed === newest)', replace: 'if (commit !== null && committed >= newest - 1)' }],
  },
  {
    name: 'less-for-less-or-equal',
    stands: 'a table that has exactly this number does not skip the write',
    edits: [{ file: 'src/store/commit.ts', find: 'newest.version < txn.version', replace: 'newest.version <= txn.version' }],
  },
  {
    name: 'app-id-of-the-path',
    stands: "the native sink's app id is the name of the checkpoint's folder, which a new checkpoint shares",
    edits: [
      {
        file: 'src/engine/sink.ts',
        find: '{ appId: attempt.queryId, version: attempt.batchId }',
        replace: '{ appId: attempt.query, version: attempt.batchId }',
      },
    ],
  },
  {
    name: 'txn-of-another-batch',
    stands: 'the table says that it has the batch before',
    edits: [
      {
        file: 'src/store/commit.ts',
        find: '{ appId: txn.appId, version: txn.version, lastUpdatedMs',
        replace: '{ appId: txn.appId, version: Math.max(0, txn.version - 1), lastUpdatedMs',
      },
    ],
  },
  {
    name: 'log-before-link',
    stands: 'the SQLite log has a version before its file decides',
    edits: [
      {
        file: 'src/store/commit.ts',
        find: "    if (linkVersion(folder, version, text, fx) === 'exists') {",
        replace:
          "    log.record(name, version, text, actions, ledgerEntry(committed(write, draft, version), options, fx))\n    if (linkVersion(folder, version, text, fx) === 'exists') {",
      },
    ],
  },
  {
    name: 'version-before-files',
    stands: 'a version is linked while its data file is still being written',
    edits: [
      {
        file: 'src/store/data-files.ts',
        find: "    await fx.files.writeInHalves(join(folder, path), bytes, async (syncHalf) => {\n      if (index === 0) await moment('mid-write', { ...details, syncHalf })\n    })\n",
        replace:
          "    if (index === 0) await moment('mid-write', { ...details, syncHalf: () => {} })\n    setTimeout(() => void fx.files.writeInHalves(join(folder, path), bytes, async () => {}).catch(() => {}))\n",
      },
    ],
  },
  {
    name: 'lock-unlinked',
    stands: "a lock file is removed as stale, and with it a living holder's lock",
    edits: [
      { file: 'src/engine/lock.ts', find: '  const database = openLock(path)\n', replace: '  fx.files.remove(path)\n  const database = openLock(path)\n' },
    ],
  },
  {
    name: 'lock-not-freed',
    stands: 'a query that has ended still holds its lock',
    edits: [{ file: 'src/engine/lock.ts', find: "database.exec('DELETE FROM holder; COMMIT')", replace: "database.exec('COMMIT')" }],
  },
  {
    name: 'half-a-joint-commit-seen',
    stands: 'a reader shows the linked half of a commit over several tables',
    edits: [{ file: 'src/store/joint-view.ts', find: 'if (isLinked) this.#writes.push(...writes)', replace: '' }],
  },
  {
    name: 'roll-forward-forgotten',
    stands: 'a commit over several tables of which one is linked is not ended',
    edits: [
      {
        file: 'src/store/joint-recovery.ts',
        find: '        recordJoint(log, linkJoint(log, tablesFolder, jointId, fx), fx)\n      } else',
        replace: '        continue\n      } else',
      },
      {
        file: 'src/store/adopt.ts',
        find: 'if (joint !== null && log.joint.writes(joint.id).length > 0)',
        replace: 'if (joint !== null && log.joint.writes(joint.id).length > 99)',
      },
    ],
  },
  {
    name: 'prepared-dropped',
    stands: 'what was prepared is forgotten although one of its tables has its part',
    edits: [
      {
        file: 'src/store/joint-recovery.ts',
        find: '        recordJoint(log, linkJoint(log, tablesFolder, jointId, fx), fx)\n      } else',
        replace: '        log.joint.settle(jointId)\n      } else',
      },
    ],
  },
  {
    name: 'ledger-not-filled',
    stands: 'the ledger is not told of a write',
    edits: [
      {
        file: 'src/store/sqlite-log.ts',
        find: '    if (there === null) table = this.#insertVersion(table, version, text, actions)\n    if (written)',
        replace: '    if (there === null) table = this.#insertVersion(table, version, text, actions)\n    if (written && version < 0)',
      },
    ],
  },
  {
    name: 'ledger-not-filled-on-adoption',
    stands: 'whoever takes a version over does not say in the ledger whose it was',
    edits: [
      {
        file: 'src/store/adopt.ts',
        find: 'log.record(name, next, text, actions, writtenBy(actions, fx.nowMs()))',
        replace: 'log.record(name, next, text, actions, null)',
      },
    ],
  },
  {
    name: 'purge-of-a-needed-offset',
    stands: 'the offsets that the next start needs are purged',
    edits: [{ file: 'src/engine/checkpoint-purge.ts', find: 'const end = newestBatchId - kept', replace: 'const end = newestBatchId' }],
  },
  {
    name: 'end-inclusive-range',
    stands: 'a range is read one file too far',
    edits: [
      { file: 'src/engine/table-source-plan.ts', find: 'isLast ? end.index + 1 : undefined', replace: 'isLast ? end.index + 2 : undefined' },
      { file: 'src/engine/table-source-plan.ts', find: 'initial.slice(position.index + 1, to + 1)', replace: 'initial.slice(position.index + 1, to + 2)' },
    ],
  },
  {
    name: 'start-inclusive-range',
    stands: 'a range begins with the last record of the one before',
    edits: [
      {
        file: 'src/engine/topic-source-plan.ts',
        find: 'ranges.push({ partition, start: first, end: last })',
        replace: 'ranges.push({ partition, start: first > 0n ? first - 1n : first, end: last })',
      },
    ],
  },
  {
    name: 'rejected-record-lost',
    stands: 'records that are no rows are dropped silently',
    edits: [{ file: 'src/engine/sink.ts', find: 'if (rejectedRows) together.push(', replace: 'if (rejectedRows && together.length > 1) together.push(' }],
  },
  {
    name: 'guard-takes-equal',
    stands: 'a MERGE guarded by newer updates with what is just as old',
    edits: [{ file: 'src/store/merge-conditions.ts', find: 'order(sourceRow, targetRow) > 0', replace: 'order(sourceRow, targetRow) >= 0' }],
  },
  {
    name: 'first-of-equals',
    stands: 'of two events at one time the earlier record wins in a batch',
    edits: [{ file: 'src/store/newest-of-each.ts', find: 'return difference > 0', replace: 'return order === orders[0] ? difference > 0 : difference < 0' }],
  },
  {
    name: 'merged-file-stays',
    stands: 'a file whose rows a MERGE wrote again stays live',
    edits: [{ file: 'src/store/merge-table.ts', find: 'const removes = rewritten.map(', replace: 'const removes = rewritten.slice(1).map(' }],
  },
  {
    name: 'statistics-too-narrow',
    stands: 'a greatest value leaves out the last row',
    edits: [
      {
        file: 'src/store/statistics.ts',
        find: '  for (let row = first + 1; row < rowCount; row++) {\n    if (nulls?.[row] === 1) continue\n    const value',
        replace: '  for (let row = first + 1; row < rowCount - 1; row++) {\n    if (nulls?.[row] === 1) continue\n    const value',
      },
    ],
  },
  {
    name: 'stale-checksum',
    stands: "an earlier file's checksum stays beside a new file",
    edits: [{ file: 'src/effects.ts', find: 'fs.unlinkSync(checksum)', replace: 'void checksum' }],
  },
  {
    name: 'skip-counted-as-written',
    stands: 'the ledger calls a skipped write committed',
    edits: [{ file: 'src/store/commit.ts', find: '    outcome: report.outcome,\n', replace: "    outcome: 'committed',\n" }],
  },
  {
    name: 'counts-stale-after-removal',
    stands: 'the rows of a removed file are counted on',
    edits: [{ file: 'src/observe/table-counter.ts', find: 'for (const rows of hashes) this.#rows.remove(rows)', replace: '' }],
  },
  {
    name: 'temp-files-left',
    stands: 'what a death left half written lies there for ever',
    edits: [{ file: 'src/engine/work.ts', find: '  removeStaleTemporaries(folder, fx)\n', replace: '' }],
  },
  {
    name: 'drop-not-ended',
    stands: 'a drop that died is not gone on with',
    edits: [{ file: 'src/store/store.ts', find: '      finishDrops(store.log, store.tablesFolder, fx)\n', replace: '' }],
  },
  {
    name: 'half-file-trusted',
    stands: 'a data file is named by its version with half of its bytes',
    edits: [{ file: 'src/effects.ts', find: '        writeAll(file, content.subarray(half))\n', replace: '' }],
  },
  {
    name: 'optimize-changes-data',
    stands: 'rows that were only put together come to a stream as new ones',
    edits: [{ file: 'src/store/optimize.ts', find: 'dataChange: false, partitionValues: like', replace: 'dataChange: true, partitionValues: like' }],
  },
  {
    name: 'vacuum-of-a-needed-file',
    stands: 'a file of the newest version is removed',
    edits: [{ file: 'src/store/vacuum-plan.ts', find: 'if (known.live.has(path) || known.liveFileIds.has(fileId) || modifiedMs', replace: 'if (modifiedMs' }],
  },
  {
    name: 'vacuum-of-a-file-being-written',
    stands: 'a file is taken for an orphan that a living writer is about to name',
    edits: [{ file: 'src/store/data-file-name.ts', find: '    if (writer === undefined) return false', replace: '    if (writer !== null) return false' }],
  },
  {
    name: 'no-sync-of-folders',
    stands: 'a name that was created is not durable',
    edits: [{ file: 'src/effects.ts', find: "      if (created === 'created') files.syncFolder(folder)\n", replace: '' }],
    findBy: 'power loss',
  },
  {
    name: 'no-sync-of-files',
    stands: 'a file has its name before its bytes are durable',
    edits: [{ file: 'src/effects.ts', find: '        sync(file, temporary)\n', replace: '' }],
    findBy: 'power loss',
  },
  {
    name: 'no-sync-of-data-files',
    stands: 'a version names a data file whose bytes are not durable',
    edits: [
      {
        file: 'src/effects.ts',
        find: '        writeAll(file, content.subarray(half))\n        sync(file, path)\n',
        replace: '        writeAll(file, content.subarray(half))\n',
      },
    ],
    findBy: 'power loss',
  },
  {
    name: 'commits-of-sqlite-not-synced',
    stands: 'the log says committed before it is durable',
    edits: [{ file: 'src/database.ts', find: "database.pragma('synchronous = FULL')", replace: "database.pragma('synchronous = OFF')" }],
    findBy: 'power loss',
  },
]

const root = fileURLToPath(new URL('../..', import.meta.url))

/**
 * The texts of the files that a bug changes, by their paths.
 * @throws when what it changes is not there, or more than once
 */
export function planted({ name, edits }) {
  const texts = new Map()
  for (const { file, find, replace } of edits) {
    const text = texts.get(file) ?? readFileSync(`${root}${file}`, 'utf8')
    const parts = text.split(find)
    if (parts.length !== 2) throw new Error(`bug ${name} cannot be planted: ${file} has its text ${parts.length - 1} times, and must have it once:\n${find}`)
    texts.set(file, parts.join(replace))
  }
  return texts
}
