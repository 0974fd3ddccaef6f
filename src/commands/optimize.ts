/** `streamtop optimize`: puts the small files of a table together. */
import { safeJson } from '../safe-text.js'
import type { Context, Verb } from './verb.js'
import { wholeNumber } from './whole-number.js'

export interface OptimizeOptions {
  readonly targetSize?: number
}

export const optimize: Verb<OptimizeOptions> = {
  name: 'optimize',
  summary: 'put the small files of a table together',
  description:
    'Writes the small files of a table again as few larger ones, in the same order of rows, as one version that changes no row: streams that read the table pass over it. Rows that deletion vectors take out go. Queries may run meanwhile. The old files stay for older versions, until vacuum removes them.',
  arguments: [{ flags: '<table>', description: 'the table' }],
  options: [{ flags: '--target-size <mib>', description: 'files up to this many MiB; 16 unless given', parse: wholeNumber('--target-size', 1, 1024) }],
  examples: [{ command: 'streamtop optimize bronze_orders', does: 'then: streamtop vacuum bronze_orders' }],
  run: runOptimize,
}

async function runOptimize({ workspace, arguments: [table = ''], options, adopt, output, json, fx }: Context<OptimizeOptions>): Promise<number> {
  const { checkForeign } = await import('../engine/workspace.js')
  const { checkName } = await import('../names.js')
  const { Store } = await import('../store/store.js')
  checkName('table', table)
  checkForeign(workspace, adopt, fx)
  const store = Store.open(workspace, fx)
  try {
    const report = await store.optimize(table, { targetBytes: options.targetSize === undefined ? undefined : options.targetSize * 1024 * 1024 })
    const { version, filesRemoved, filesAdded, bytesRemoved, bytesAdded } = report
    if (json) output.stdout(`${safeJson(report, 2)}\n`)
    else if (version === null) output.stdout(`${table} has no small files to put together\n`)
    else output.stdout(`${table}: ${filesRemoved} files are now ${filesAdded}, ${bytesRemoved} bytes are ${bytesAdded}, in version ${version}\n`)
    return 0
  } finally {
    store.close()
  }
}
