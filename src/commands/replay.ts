/** `streamtop replay`: takes the newest commit of a query away, so that its last batch runs again. */
import type { Verb } from './verb.js'

export const replay: Verb = {
  name: 'replay',
  summary: 'take the newest commit away: the batch runs again',
  description:
    "Removes the newest file of the query's commits log, when it is the commit of the newest batch: exactly what a death between write and commit leaves behind. The next run runs that batch again with the same rows.",
  arguments: [{ flags: '<query>', description: 'the query' }],
  examples: [{ command: 'streamtop replay events_copy', does: 'then: streamtop run events_copy' }],
  async run({ workspace, arguments: [name = ''], adopt, output, json, fx }) {
    const { replayNewestBatch } = await import('../engine/reset.js')
    const { checkForeign } = await import('../engine/workspace.js')
    const { safeJson } = await import('../safe-text.js')
    checkForeign(workspace, adopt, fx)
    const batchId = await replayNewestBatch(workspace, name, fx)
    if (json) output.stdout(`${safeJson({ query: name, batchId })}\n`)
    else if (output.stderrIsTerminal) output.stderr(`batch ${batchId} of ${name} runs again at the next run\n`)
    return 0
  },
}
