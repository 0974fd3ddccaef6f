/** `streamtop drop`: drops a table with its files and its history. */
import type { Verb } from './verb.js'

export const drop: Verb = {
  name: 'drop',
  summary: 'drop a table',
  description:
    'Drops the table, its files and its history, and with it the table of the records that its query rejects. Queries that write it must not be running; one that reads it stops with an error when the table is made again, for that is another table.',
  arguments: [{ flags: '<table>', description: 'the table' }],
  examples: [{ command: 'streamtop drop events_copy', does: 'together with: streamtop reset events_copy' }],
  async run({ workspace, arguments: [name = ''], configFile, adopt, output, json, fx }) {
    const { dropTables, withRejectedTables } = await import('../engine/drop-table.js')
    const { checkForeign, checkTableMayBeThere } = await import('../engine/workspace.js')
    const { checkName } = await import('../names.js')
    const { findConfig, loadQueries } = await import('../queries/load-queries.js')
    const { safeJson } = await import('../safe-text.js')
    const { noSuchTable } = await import('../store/store.js')
    checkName('table', name)
    checkForeign(workspace, adopt, fx)
    const queries = await loadQueries(configFile ?? findConfig(workspace, fx), fx)
    checkTableMayBeThere(workspace, name, fx)
    const dropped = await dropTables(workspace, withRejectedTables(name, queries), queries, fx)
    if (!dropped.includes(name)) throw noSuchTable(name)
    if (json) output.stdout(`${safeJson({ table: name, dropped: true, alsoDropped: dropped.filter((table) => table !== name) })}\n`)
    else if (output.stderrIsTerminal) output.stderr(`${dropped.length === 1 ? `table ${name} is` : `tables ${dropped.join(' and ')} are`} dropped\n`)
    return 0
  },
}
