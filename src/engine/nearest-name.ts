/** The name that was probably meant: the one with the fewest letters to change. Pure. */

/** The nearest of the known names, whatever their case, or null when none is near enough to be a slip of the hand. */
export function nearestName(wanted: string, known: readonly string[]): string | null {
  const most = Math.max(2, Math.floor(wanted.length / 3))
  let nearest: string | null = null
  let fewest = most + 1
  for (const name of known) {
    const changes = editDistance(wanted.toLowerCase(), name.toLowerCase())
    if (changes < fewest) {
      nearest = name
      fewest = changes
    }
  }
  return nearest
}

/** Letters to insert, drop or replace to make one text of the other (Levenshtein). */
function editDistance(from: string, to: string): number {
  let above = Array.from({ length: to.length + 1 }, (_, column) => column)
  for (let row = 1; row <= from.length; row++) {
    const line = [row]
    for (let column = 1; column <= to.length; column++) {
      const replaced = (above[column - 1] ?? 0) + (from[row - 1] === to[column - 1] ? 0 : 1)
      line.push(Math.min(replaced, (above[column] ?? 0) + 1, (line[column - 1] ?? 0) + 1))
    }
    above = line
  }
  return above[to.length] ?? 0
}
