/** Java's properties files, as Kafka's clients read them (java.util.Properties, `load`). */

/** Names and values; the last of one name counts. */
export function readProperties(text: string): Map<string, string> {
  const properties = new Map<string, string>()
  for (const line of logicalLines(text)) {
    const found = NAME_AND_VALUE.exec(line)
    if (found) properties.set(unescaped(found[1] as string), unescaped(found[2] ?? ''))
  }
  return properties
}

/** A name ends at the first `=`, `:` or white space that no backslash stands before. Other white space than these three is text. */
const NAME_AND_VALUE = /^((?:[^=: \t\f\\]|\\.)+)(?:[ \t\f]*[=:][ \t\f]*|[ \t\f]+|$)(.*)$/s

/** A line with an odd number of backslashes at its end goes on in the next; comments do not. */
function logicalLines(text: string): string[] {
  const lines: string[] = []
  let begun: string | null = null
  for (const physical of text.split(/\r\n|\r|\n/)) {
    const line: string = physical.replace(/^[ \t\f]+/, '')
    if ((begun ?? '') === '' && (line === '' || line.startsWith('#') || line.startsWith('!'))) {
      begun = null
      continue
    }
    const whole: string = (begun ?? '') + line
    const goesOn = (/\\*$/.exec(whole)?.[0].length ?? 0) % 2 === 1
    begun = goesOn ? whole.slice(0, -1) : null
    if (!goesOn) lines.push(whole)
  }
  if (begun !== null) lines.push(begun)
  return lines
}

const ESCAPES: Readonly<Record<string, string>> = { n: '\n', r: '\r', t: '\t', f: '\f' }

function unescaped(text: string): string {
  return text.replace(/\\(?:u([0-9a-fA-F]{4})|(.))/gs, (_, code: string | undefined, character: string) =>
    code === undefined ? (ESCAPES[character] ?? character) : String.fromCharCode(Number.parseInt(code, 16)),
  )
}
