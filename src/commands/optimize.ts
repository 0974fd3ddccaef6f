/** `streamtop optimize`: puts the small files of a table together. */
import { safeJson } from '../safe-text.js'
import type { Context, Verb } from './verb.js'
import { wholeNumber } from './whole-number.js'
import { withStore } from './with-store.js'

export interface OptimizeOptions {
  readonly targetSize?: number
}

export const optimize: Verb<OptimizeOptions> = {
  name: 'optimize',
  summary: 'put the small files of a table together',
  description:
    'Writes the small files of a table again as few larger ones, as one version that changes no row: streams that read the table pass over it. Rows that deletion vectors take out go. Queries may run meanwhile. The old files stay for older versions, until vacuum removes them.',
  arguments: [{ flags: '<table>', description: 'the table' }],
  options: [{ flags: '--target-size <mib>', description: 'files up to this many MiB; 16 unless given', parse: wholeNumber('--target-size', 1, 1024) }],
  examples: [{ command: 'streamtop optimize bronze_orders', does: 'then: streamtop vacuum bronze_orders' }],
  run: runOptimize,
}

async function runOptimize(context: Context<OptimizeOptions>): Promise<number> {
  const { options, output, json } = context
  const [table = ''] = context.arguments
  const targetBytes = options.targetSize === undefined ? undefined : options.targetSize * 1024 * 1024
  const report = await withStore(context, table, (store) => store.optimize(table, { targetBytes }))
  const { version, filesRemoved, filesAdded, bytesRemoved, bytesAdded } = report
  if (json) output.stdout(`${safeJson(report, 2)}\n`)
  else if (version === null) output.stdout(`${table} has no small files to put together\n`)
  else output.stdout(`${table}: ${filesRemoved} files are now ${filesAdded}, ${bytesRemoved} bytes are ${bytesAdded}, in version ${version}\n`)
  return 0
}
