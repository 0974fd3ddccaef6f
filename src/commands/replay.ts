/** `streamtop replay`: takes the newest commit of a query away, so that its last batch runs again. */
import type { Verb } from './verb.js'

export const replay: Verb = {
  name: 'replay',
  summary: 'take the newest commit away: the batch runs again',
  description:
    "Removes the newest file of the query's commits log, when it is the commit of the newest batch: exactly what a death between write and commit leaves behind. The next run runs that batch again with the same rows.",
  arguments: [{ flags: '<query>', description: 'the query' }],
  examples: [{ command: 'streamtop replay events_copy', does: 'then: streamtop run events_copy' }],
  async run({ workspace, arguments: [name = ''], configFile, adopt, output, json, fx }) {
    const { replayNewestBatch } = await import('../engine/reset.js')
    const { checkpointFolder } = await import('../engine/checkpoint.js')
    const { checkForeign } = await import('../engine/workspace.js')
    const { checkName } = await import('../names.js')
    const { findConfig, findQuery, loadQueries } = await import('../queries/load-queries.js')
    const { safeJson } = await import('../safe-text.js')
    checkName('query', name)
    checkForeign(workspace, adopt, fx)
    // A name that nothing is known of was most likely misspelled.
    if (fx.files.status(checkpointFolder(workspace, name)) === null) findQuery(await loadQueries(configFile ?? findConfig(workspace, fx), fx), name)
    const batchId = await replayNewestBatch(workspace, name, fx)
    if (json) output.stdout(`${safeJson({ query: name, batchId })}\n`)
    else if (output.stderrIsTerminal) output.stderr(`batch ${batchId} of ${name} runs again at the next run\n`)
    return 0
  },
}
