/** Whose folder it is: a workspace that another tool made, most likely Spark, is only read unless it is asked to be taken over. */
import { join } from 'node:path'
import type { Effects } from '../effects.js'
import { StreamtopError } from '../errors.js'
import { isTableFolder } from '../store/delta-log.js'
import { noSuchTable } from '../store/store.js'
import { logPathOf, tablesFolderOf } from '../store/workspace-paths.js'
import { topicsPath } from '../topic/topic-database.js'
import { checkpointFolder } from './checkpoint.js'
import type { QueryDefinition } from './definition.js'
import { findCheckpoint, planStart } from './start.js'
import { readTopicIdentity } from './topic-source-files.js'

/**
 * Whether a workspace is somebody else's: it holds tables or checkpoints, and nothing that streamtop leaves. A deleted `_log.db`
 * alone does not make it foreign.
 */
export function isForeign(workspace: string, fx: Effects): boolean {
  if ([logPathOf(workspace), topicsPath(workspace), join(workspace, '.locks')].some((path) => fx.files.exists(path))) return false
  const tables = tablesFolderOf(workspace)
  if (fx.files.list(tables).some((name) => isTableFolder(join(tables, name), fx))) return true
  const checkpoints = join(workspace, 'checkpoints')
  return fx.files.list(checkpoints).some((name) => ['metadata', 'offsets'].some((part) => fx.files.exists(join(checkpoints, name, part))))
}

/**
 * Refuses to write into a foreign workspace, or with `adopt` into one that cannot be gone on from; before anything is written.
 * @param definitions the queries that are to run
 * @param options.kafka topics are read from Kafka: whether logged offsets are theirs is looked up there, when the query begins
 * @throws foreign-workspace, and what the start table refuses
 */
export function checkWorkspace(
  workspace: string,
  definitions: readonly QueryDefinition[],
  options: { readonly adopt: boolean; readonly acceptGap: boolean; readonly kafka?: boolean },
  fx: Effects,
): void {
  if (!checkForeign(workspace, options.adopt, fx)) return
  for (const { name, source } of definitions) {
    const folder = checkpointFolder(workspace, name)
    const start = planStart(findCheckpoint(folder, fx), { acceptGap: options.acceptGap })
    if (!options.kafka && source.kind === 'topic' && start.kind !== 'new' && readTopicIdentity(folder, fx) === null) {
      throw new StreamtopError(
        'checkpoint-foreign',
        `${folder} has offsets of a topic and does not say of which: most likely Spark counted them on a Kafka cluster`,
        {
          hint: 'the embedded topic has other records under those offsets; use a new checkpoint for it',
        },
      )
    }
  }
}

/**
 * Refuses a foreign workspace without `adopt`.
 * @returns whether it is foreign
 * @throws foreign-workspace
 */
export function checkForeign(workspace: string, adopt: boolean, fx: Effects): boolean {
  if (!isForeign(workspace, fx)) return false
  if (adopt) return true
  throw new StreamtopError('foreign-workspace', `${workspace} was made by another tool, most likely Spark, and is only read`, {
    hint: 'work on a copy of it, or take it over with --adopt',
  })
}

/**
 * Refuses a table that cannot be there, as long as nobody has opened the tables for writing: a name that is mistyped, or the wrong folder,
 * must not make a workspace of it, nor take Spark's over.
 * @throws unknown-table
 */
export function checkTableMayBeThere(workspace: string, table: string, fx: Effects): void {
  if (fx.files.exists(logPathOf(workspace)) || isTableFolder(join(tablesFolderOf(workspace), table), fx)) return
  throw noSuchTable(table)
}
