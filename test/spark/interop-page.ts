/** The table of compared histories in `docs/interop.md`, as the suite writes it. */
import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describeMoves } from './histories.js'
import type { Compared } from './play-history.js'

const PAGE = fileURLToPath(new URL('../../docs/interop.md', import.meta.url))
const [BEGIN, END] = ['<!-- histories -->', '<!-- /histories -->']

/** Writes the table of compared histories between its markers. */
export function writeHistories(compared: readonly Compared[], seed: string): void {
  const page = readFileSync(PAGE, 'utf8')
  const [begin, end] = [page.indexOf(BEGIN), page.indexOf(END)]
  if (begin < 0 || end < begin) throw new Error(`docs/interop.md has no ${BEGIN} … ${END}`)
  const text = `${page.slice(0, begin + BEGIN.length)}\n${historiesText(compared, seed)}\n${page.slice(end)}`
  if (text !== page) writeFileSync(PAGE, text)
}

function historiesText(compared: readonly Compared[], seed: string): string {
  const rows = compared.map(({ history, moves, rows: count, distinct, batches, versions, versionsBySpark, differences }, number) => {
    const small = history.sourceOptions['maxFilesPerTrigger'] ? ', one file a batch' : ''
    const begin = history.base.startsWith('walk-through') ? 'after the walk-through: ' : ''
    const outcome = differences.length === 0 ? 'the same' : `the same but for ${differences.map((name) => `\`${name}\``).join(', ')}`
    const ofSpark = versionsBySpark > 0 ? `${versions}, ${versionsBySpark} by Spark` : String(versions)
    return `| ${number + 1} | ${history.way.title}${small} | ${begin}${describeMoves(moves)} | ${count} | ${distinct} | ${batches} | ${ofSpark} | ${outcome} |`
  })
  return [
    `${compared.length} histories, seed ${seed}.`,
    '',
    '| # | query | what happened | rows | different | batches | versions | streamtop alone came to |',
    '| ---: | --- | --- | ---: | ---: | ---: | --- | --- |',
    ...rows,
  ].join('\n')
}
