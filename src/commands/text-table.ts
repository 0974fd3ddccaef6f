/** Lines of text in columns, for a terminal. */

export interface TextColumn {
  readonly title: string
  /** Numbers stand at the right. */
  readonly align?: 'left' | 'right'
}

/** A title line and a line a row, two blanks between columns, none at the end of a line. Cells are taken as they are. */
export function textTable(columns: readonly TextColumn[], rows: readonly (readonly string[])[]): string {
  const widths = columns.map(({ title }, c) => Math.max(title.length, ...rows.map((row) => [...(row[c] ?? '')].length)))
  const line = (cells: readonly string[]) => {
    const padded = columns.map(({ align }, c) => {
      const cell = cells[c] ?? ''
      const blanks = ' '.repeat(Math.max(0, (widths[c] ?? 0) - [...cell].length))
      return align === 'right' ? blanks + cell : cell + blanks
    })
    return `${padded.join('  ').trimEnd()}\n`
  }
  return [columns.map(({ title }) => title), ...rows].map(line).join('')
}

/** A text in lines of at most so many characters, broken between words; later lines begin with the indent. */
export function wrapped(text: string, width: number, indent: string): string {
  const lines: string[] = []
  let line = ''
  for (const word of text.split(' ')) {
    const start = lines.length === 0 ? '' : indent
    if (line !== '' && start.length + line.length + 1 + word.length > width) {
      lines.push(start + line)
      line = word
    } else line = line === '' ? word : `${line} ${word}`
  }
  lines.push((lines.length === 0 ? '' : indent) + line)
  return `${lines.join('\n')}\n`
}
