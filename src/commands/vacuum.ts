/** `streamtop vacuum`: removes data files that no reader of a table's newest version needs. */
import { safeJson, safeText } from '../safe-text.js'
import { duration } from './duration.js'
import type { Context, Output, Verb } from './verb.js'
import { withStore } from './with-store.js'

export interface VacuumOptions {
  readonly dryRun?: boolean
  readonly olderThan?: number
  readonly force?: boolean
}

export const vacuum: Verb<VacuumOptions> = {
  name: 'vacuum',
  summary: 'remove data files that a table does not need',
  description:
    'Removes data files that no version names, and those that versions took out of the table longer ago than it keeps them: 7 days, or its delta.deletedFileRetentionDuration. Older versions that named them cannot be shown any more. Files that a living process of streamtop is writing stay, whatever is asked for. Queries may run meanwhile.',
  arguments: [{ flags: '<table>', description: 'the table' }],
  options: [
    { flags: '--dry-run', description: 'list the files and remove none' },
    { flags: '--older-than <duration>', description: 'removed or left so long ago: 7d, 36h, 90m, 0', parse: duration('--older-than') },
    { flags: '--force', description: 'allow less than the table keeps removed files for' },
  ],
  examples: [
    { command: 'streamtop vacuum orders --dry-run', does: 'what it would remove' },
    { command: 'streamtop vacuum orders --older-than 0 --force', does: 'all but the newest version' },
  ],
  run: runVacuum,
}

async function runVacuum(context: Context<VacuumOptions>): Promise<number> {
  const { options, output, json } = context
  const [table = ''] = context.arguments
  const dryRun = options.dryRun === true
  const report = await withStore(context, table, (store) => store.vacuum(table, { olderThanMs: options.olderThan, force: options.force, dryRun }))
  if (json) output.stdout(`${safeJson({ ...report, dryRun }, 2)}\n`)
  else await tell(report, dryRun, output)
  return 0
}

async function tell({ table, files, bytes, unfinished, wholeFrom }: import('../store/vacuum.js').VacuumReport, isDry: boolean, output: Output): Promise<void> {
  if (isDry && files.length > 0) {
    const { textTable } = await import('./text-table.js')
    const rows = files.map((file) => [safeText(file.path, 200), file.kind, String(file.bytes)])
    output.stdout(textTable([{ title: 'file' }, { title: 'why' }, { title: 'bytes', align: 'right' }], rows))
  }
  const orphans = files.filter(({ kind }) => kind === 'orphan').length
  const what = `${filesText(files.length)}, ${bytes} bytes: ${orphans} that no version names, ${files.length - orphans} that versions took out`
  output.stdout(files.length === 0 ? `${table} has nothing to remove\n` : `${table}: ${isDry ? 'would remove' : 'removed'} ${what}\n`)
  if (unfinished > 0) output.stderr(`${filesText(unfinished)} stayed: a living process is writing there\n`)
  if (wholeFrom !== null && !isDry) output.stderr(`versions before ${wholeFrom} of ${table} have lost files and cannot all be shown any more\n`)
}

function filesText(count: number): string {
  return `${count} ${count === 1 ? 'file' : 'files'}`
}
