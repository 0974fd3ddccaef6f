/** The differences between Spark and streamtop that docs/interop.md names: the first column of the table in its section "Differences". */
import { readFileSync } from 'node:fs'

/** Their kinds, in the order of the page. Throws when the section has no table, or a row of it no kind. */
export function knownDifferences(): string[] {
  const page = readFileSync(new URL('../../docs/interop.md', import.meta.url), 'utf8')
  const section = /^## Differences$([\s\S]*?)(?=^## |$(?![\s\S]))/m.exec(page)?.[1] ?? ''
  const [head, line, ...rows] = section.split('\n').filter((text) => text.startsWith('|'))
  if (head === undefined || !/^\|[\s|:-]+$/.test(line ?? '')) throw new Error('docs/interop.md has no table in its section "Differences"')
  return rows.map((row) => {
    const kind = /^\| *`([^`]+)` *\|/.exec(row)?.[1]
    if (kind === undefined) throw new Error(`a row of docs/interop.md does not begin with a kind in backticks: ${row}`)
    return kind
  })
}
