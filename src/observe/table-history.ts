/** The versions of a table as `history` shows them. */
import type { Effects } from '../effects.js'
import type { AddFile, VersionActions } from '../store/actions.js'
import { attemptOf } from '../store/adopt.js'
import { jointOf } from '../store/joint-version.js'
import { parseVersion, rowCountOf } from '../store/version-text.js'
import { OverlaidLog } from './overlaid-log.js'

export interface HistoryLine {
  readonly version: number
  readonly timestampMs: number | null
  readonly operation: string | null
  /** Of streamtop's own writes. */
  readonly query: string | null
  readonly queryId: string | null
  readonly batchId: number | null
  readonly attempt: number | null
  readonly idempotent: boolean | null
  readonly txns: readonly { readonly appId: string; readonly version: number }[]
  /** Null when a file does not say how many rows it has. */
  readonly rowsAdded: number | null
  readonly rowsRemoved: number | null
  readonly filesAdded: number
  readonly filesRemoved: number
  readonly engine: string | null
  /** The other tables of a commit over several. */
  readonly togetherWith?: readonly string[]
}

/**
 * The newest versions of a table, newest first; null when there is no such table.
 * @param opened the log of a look that is under way; opened for this unless given
 * @throws what makes its log unreadable
 */
export function tableHistory(workspace: string, table: string, limit: number, fx: Effects, opened?: OverlaidLog): HistoryLine[] | null {
  const log = opened ?? OverlaidLog.open(workspace, fx)
  try {
    if (log.newestVersion(table) === null) return null
    return log.history(table, limit).map(({ version, timestampMs, operation, text }) => {
      const actions = parseVersion(text, `version ${version} of table ${table}`)
      const by = attemptOf(actions)
      const engine = actions.commitInfo?.['engineInfo']
      return {
        version,
        timestampMs,
        operation,
        query: by?.attempt.query ?? null,
        queryId: by?.attempt.queryId ?? queryIdOf(actions),
        batchId: by?.attempt.batchId ?? null,
        attempt: by?.attempt.attempt ?? null,
        idempotent: by?.attempt.idempotent ?? null,
        txns: actions.txns.map(({ appId, version: txnVersion }) => ({ appId, version: txnVersion })),
        rowsAdded: sum(actions.adds.map(rowsOf)),
        rowsRemoved: sum(actions.removes.map((remove) => remove.rowCount ?? rowsOfFile(log, table, version - 1, remove.path))),
        filesAdded: actions.adds.length,
        filesRemoved: actions.removes.length,
        engine: typeof engine === 'string' ? engine : null,
        togetherWith: (jointOf(actions)?.tables ?? []).flatMap(({ name }) => (name === table ? [] : [name])).sort(),
      }
    })
  } finally {
    if (opened === undefined) log.close()
  }
}

/** Delta's own sink names its query in the parameters of the operation. */
function queryIdOf(actions: VersionActions): string | null {
  const parameters = actions.commitInfo?.['operationParameters']
  const queryId = typeof parameters === 'object' && parameters !== null ? (parameters as Record<string, unknown>)['queryId'] : null
  return typeof queryId === 'string' ? queryId : null
}

/** The rows of a data file that are left, null when its statistics do not say how many it has. */
export function rowsOf(file: AddFile): number | null {
  const rows = rowCountOf(file.statistics)
  return rows === null ? null : rows - (file.deletionVector?.cardinality ?? 0)
}

/** Spark's removes do not say how many rows went: the add of before does. */
function rowsOfFile(log: OverlaidLog, table: string, version: number, path: string): number | null {
  if (version < (log.oldestSnapshotVersion(table) ?? 0)) return null
  const file = log.snapshot(table, version)?.files.find((one) => one.path === path)
  return file ? rowsOf(file) : null
}

function sum(counts: ReadonlyArray<number | null>): number | null {
  let total = 0
  for (const count of counts) {
    if (count === null) return null
    total += count
  }
  return total
}
