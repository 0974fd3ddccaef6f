/** `streamtop drop`: drops a table with its files and its history. */
import { StreamtopError } from '../errors.js'
import type { Verb } from './verb.js'

export const drop: Verb = {
  name: 'drop',
  summary: 'drop a table',
  description:
    'Drops the table, its files and its history. Queries that write it must not be running; one that reads it stops with an error when the table is made again, for that is another table.',
  arguments: [{ flags: '<table>', description: 'the table' }],
  examples: [{ command: 'streamtop drop events_copy', does: 'together with: streamtop reset events_copy' }],
  async run({ workspace, arguments: [name = ''], configFile, adopt, output, json, fx }) {
    const { acquireLock } = await import('../engine/lock.js')
    const { checkForeign } = await import('../engine/workspace.js')
    const { checkName } = await import('../names.js')
    const { findConfig, loadQueries } = await import('../queries/load-queries.js')
    const { safeJson } = await import('../safe-text.js')
    const { noSuchTable, Store } = await import('../store/store.js')
    checkName('table', name)
    checkForeign(workspace, adopt, fx)
    const queries = await loadQueries(configFile ?? findConfig(workspace, fx), fx)
    const writers = queries.filter((query) => query.writes.includes(name))
    const locks = []
    try {
      for (const writer of writers) locks.push(await acquireLock(workspace, writer.name, fx))
      const store = Store.open(workspace, fx)
      try {
        if (!store.drop(name)) throw noSuchTable(name)
      } finally {
        store.close()
      }
    } catch (error) {
      if (error instanceof StreamtopError && error.code === 'concurrent-query') {
        throw new StreamtopError(error.code, `table ${name} is being written: ${error.message}`, error.hint === undefined ? {} : { hint: error.hint })
      }
      throw error
    } finally {
      for (const lock of locks) lock.release()
    }
    if (json) output.stdout(`${safeJson({ table: name, dropped: true })}\n`)
    else if (output.stderrIsTerminal) output.stderr(`table ${name} is dropped\n`)
    return 0
  },
}
