/** `streamtop matrix` as it is built: real processes, killed and started again, and nothing of it left behind. */
import Database from 'better-sqlite3'
import { expect, onTestFinished, test, vi } from 'vitest'
import { type CommandFolder, commandFolder, isRunning, until } from './command.js'

/** A folder in which the command also makes its temporary ones. */
function withTemporaryFolders(): CommandFolder {
  const at = commandFolder()
  vi.stubEnv('TMPDIR', at.folder)
  onTestFinished(() => void vi.unstubAllEnvs())
  return at
}

test('kills at a step, starts again, and says what is on disk: twice in a table that knows no batches, once in others', () => {
  const at = withTemporaryFolders()
  expect(at.streamtop('matrix --way append --way apart-txn --step table-committed')).toEqual({
    exitCode: 0,
    stdout: `\
  way of writing  step               rows  distinct  replayed  verdict
✓ append          table-committed      18         9         1  duplicated

✓ two apart, txn  table-committed:1   9+9       9+9         1  exactly-once
✓ two apart, txn  table-committed:2   9+9       9+9         1  exactly-once

✓ 3 deaths, each as the protocol says: 2 exactly-once, 1 duplicated: the batch
  was in a table that knows no batches, and ran again
`,
    stderr: '',
  })
  expect(at.list()).toEqual([])
})

test('with --keep each workspace is left as the restart left it', () => {
  const at = withTemporaryFolders()
  const { exitCode, stdout } = at.streamtop('matrix --way merge --step version-linked --keep --json')
  const [death] = JSON.parse(stdout).deaths
  expect({ exitCode, death }).toMatchObject({ exitCode: 0, death: { way: 'merge', isRight: true, found: { tables: [{ rowsWhenDead: 8, rows: 8 }] } } })
  expect(at.streamtop(`status --workspace ${death.workspace}`).stdout).toMatch(/^orders +idle +0 +8 +8 +0 +0 +exactly-once$/m)
})

test('ctrl-c ends it with 130: no row, no folder and no process is left', async () => {
  const at = withTemporaryFolders()
  const { child, ended } = at.start('matrix --way append')
  const pids = await until('processes at work', () => {
    const found = holders(at)
    return found.length > 0 && found
  })
  child.kill('SIGINT')
  expect(await ended).toEqual({ exitCode: 130, stdout: '', stderr: '' })
  expect(at.list()).toEqual([])
  expect(pids.filter(isRunning)).toEqual([])
})

/** Who holds events_copy in one of the workspaces. */
function holders(at: CommandFolder): number[] {
  const workspaces = at.list().flatMap((folder) => at.list(folder).map((name) => [folder, name] as const))
  return workspaces.flatMap(([folder, name]) => {
    if (!at.list(folder, name, '.locks').includes('events_copy.db')) return []
    // The workspace may be removed at this moment.
    let database: Database.Database | null = null
    try {
      database = new Database(at.path(folder, name, '.locks', 'events_copy.db'), { readonly: true })
      return database.prepare('SELECT pid FROM holder').pluck().all() as number[]
    } catch {
      return []
    } finally {
      database?.close()
    }
  })
}
