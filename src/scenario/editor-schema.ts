/** The format as JSON schema, for editors that complete and check YAML: made of the same shapes that read a scenario. */
import { scenarioShape } from './parse-scenario.js'

/** What `scenarios/scenario.schema.json` holds, laid out as the formatter has it. */
export function editorSchemaText(): string {
  return `${laidOut({ $schema: 'http://json-schema.org/draft-07/schema#', title: 'A scenario of streamtop', ...scenarioShape.schema }, '', 0)}\n`
}

/** Maps on several lines, lists of plain values on one where they fit behind what stands before them. */
function laidOut(value: unknown, indent: string, before: number): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  const inner = `${indent}  `
  if (Array.isArray(value)) {
    const line = `[${value.map((item) => JSON.stringify(item)).join(', ')}]`
    const isPlain = value.every((item) => typeof item !== 'object' || item === null)
    if (isPlain && indent.length + before + line.length < WIDTH) return line
    return `[\n${value.map((item) => inner + laidOut(item, inner, 0)).join(',\n')}\n${indent}]`
  }
  const fields = Object.entries(value).map(([name, item]) => {
    const head = `${JSON.stringify(name)}: `
    return inner + head + laidOut(item, inner, head.length)
  })
  return fields.length === 0 ? '{}' : `{\n${fields.join(',\n')}\n${indent}}`
}

const WIDTH = 160
