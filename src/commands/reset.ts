/** `streamtop reset`: removes a query's checkpoint, so that it begins anew. */
import type { Verb } from './verb.js'

export const reset: Verb = {
  name: 'reset',
  summary: 'remove the checkpoint of a query',
  description:
    'Removes the checkpoint: the query begins anew, with a new id, and reads everything again. The table stays. A native sink then writes all rows a second time; an idempotent foreachBatch with the old app id skips them.',
  arguments: [{ flags: '<query>', description: 'the query' }],
  examples: [{ command: 'streamtop reset events_copy', does: 'a new checkpoint at the next run' }],
  async run({ workspace, arguments: [name = ''], configFile, adopt, output, json, fx }) {
    const { resetQuery } = await import('../engine/reset.js')
    const { checkForeign } = await import('../engine/workspace.js')
    const { findConfig, findQuery, loadQueries } = await import('../queries/load-queries.js')
    const { safeJson } = await import('../safe-text.js')
    checkForeign(workspace, adopt, fx)
    const isReset = await resetQuery(workspace, name, fx)
    if (!isReset) {
      // A name that nothing is known of was most likely misspelled.
      findQuery(await loadQueries(configFile ?? findConfig(workspace, fx), fx), name)
    }
    if (json) output.stdout(`${safeJson({ query: name, reset: isReset })}\n`)
    else if (!isReset) output.stderr(`${name} has no checkpoint: there was nothing to remove\n`)
    else if (output.stderrIsTerminal) output.stderr(`the checkpoint of ${name} is gone; its table stays\n`)
    return 0
  },
}
