/**
 * A scenario from its text. YAML 1.2 with the core schema and nothing that YAML can do beside it: no tags, no anchors, no merge keys,
 * and no more of anything than a playbook needs. Every error names file, line, field and what was expected there.
 */
import { isMap, isSeq, LineCounter, Lexer, type Node, parseDocument, stringify, visit } from 'yaml'
import { StreamtopError } from '../errors.js'
import type { Scenario, ScriptAction, ScriptLine } from './scenario.js'
import { scriptAction } from './script-shapes.js'
import { about, fields, foundAt, list, type Place, type Shape, text } from './shape.js'

export const MOST_BYTES = 256 * 1024
const MOST_NODES = 10_000
const DEEPEST = 16
const MOST_LINES = 200
/** A file beside the scenario: no folder, no way out of one. */
const CONFIG = /^(?!.*\.\.)[A-Za-z0-9_][A-Za-z0-9_.-]{0,100}\.m?js$/

const line: Shape<ScriptLine> = {
  ...scriptAction,
  // Line and texts are filled in by who knows the file.
  read: (node, place) => ({ line: 0, text: '', details: [], action: scriptAction.read(node, place) }),
}

/** The whole file. */
export const scenarioShape = fields(
  {
    title: about('What people will see, in a line.', text('a line of at most 80 characters', { most: 80, pattern: /^[^\n]*$/ })),
    script: about('Actions, one after the other.', list(line, 'actions', 1, MOST_LINES)),
  },
  {
    about: about('What it is about, for the list.', text('a text of at most 400 characters', { most: 400 })),
    config: about(
      'A file with queries of its own, beside this one.',
      text('the name of a .mjs or .js file beside the scenario', { most: 105, pattern: CONFIG }),
    ),
  },
)

/**
 * Reads a scenario.
 * @param content the text of the file
 * @param file its name for errors
 * @throws bad-config
 */
export function parseScenario(content: string, file: string): Scenario {
  const lines = new LineCounter()
  const lineOf = (offset: number) => Math.max(1, lines.linePos(offset).line)
  const refuse = (at: number, problem: string): never => {
    throw new StreamtopError('bad-config', `${file}:${at}: ${problem}`)
  }
  if (Buffer.byteLength(content) > MOST_BYTES) refuse(1, `expected a file of at most ${MOST_BYTES / 1024} KiB`)
  refuseDeepBrackets(content, (at) => refuse(at, tooDeep))

  const document = parseDocument(content, {
    version: '1.2',
    schema: 'core',
    merge: false,
    uniqueKeys: true,
    lineCounter: lines,
    prettyErrors: false,
    stringKeys: true,
  })
  const [problem] = [...document.errors, ...document.warnings]
  if (problem) refuse(lineOf(problem.pos[0]), STACK_IS_FULL.test(problem.message) ? tooDeep : `expected YAML: ${problem.message.split(/[;\n]/)[0]}`)
  const root = document.contents as Node | null

  let nodeCount = 0
  visit(document, {
    Alias: (_, node) => void refuse(lineOf(node.range?.[0] ?? 0), `expected the value itself, found the alias *${node.source}`),
    Node: (_, node, path) => {
      const at = lineOf((node as Node).range?.[0] ?? 0)
      nodeCount += 1
      if (nodeCount > MOST_NODES) refuse(at, `expected at most ${MOST_NODES} values`)
      if (path.length > 2 * DEEPEST) refuse(at, tooDeep)
      if (node.tag !== undefined) refuse(at, `expected a value without a tag, found ${node.tag}`)
      if ('anchor' in node && node.anchor !== undefined) refuse(at, `expected a value without an anchor, found &${node.anchor}`)
    },
  })

  const placeAt = (field: string, near: Node | null): Place => ({
    field,
    at: (name, node) => placeAt(name.startsWith('[') || field === '' ? `${field}${name}` : `${field}.${name}`, node),
    refuse: (node, expected, found) => {
      const at = lineOf((node ?? near)?.range?.[0] ?? 0)
      return refuse(at, `${field === '' ? '' : `${shortField(field)}: `}expected ${expected}, found ${found ?? foundAt(node)}`)
    },
  })
  const read = scenarioShape.read(root, placeAt('', root))
  const nodes = scriptNodes(root)
  const script = read.script.map(({ action }, index): ScriptLine => {
    const node = nodes[index] as Node
    return { action, line: lineOf(node.range?.[0] ?? 0), ...textsOf(node, action) }
  })
  const configNode = isMap(root) ? (root.get('config', true) as Node | undefined) : undefined
  const configLine = configNode === undefined ? null : lineOf(configNode.range?.[0] ?? 0)
  return { file, title: read.title, about: read.about ?? null, config: read.config ?? null, configLine, script }
}

function textsOf(node: Node, action: ScriptAction): Pick<ScriptLine, 'text' | 'details'> {
  const records = isMap(node) ? node.get('produce', true) : null
  if (action.kind === 'produce-records' && isSeq(records)) {
    const { length } = records.items
    return { text: `produce: ${length === 1 ? '1 record' : `${length} records`}`, details: (records.items as Node[]).map(flowText) }
  }
  return { text: flowText(node).slice(1, -1).trim(), details: [] }
}

/** YAML on one line. */
function flowText(node: Node): string {
  return stringify(node, { collectionStyle: 'flow', lineWidth: 0 }).trim()
}

/** The parser calls itself for each list in a list too, and tells of it as of any other error. */
const STACK_IS_FULL = /call stack/

const tooDeep = `expected at most ${DEEPEST} levels`

/** `script[3].run.kill` is told as `run.kill`: the line number says which. */
function shortField(field: string): string {
  return field.replace(/^script\[\d+\]\.(?=.)/, '')
}

/** The parser calls itself at each bracket, so they are counted before it sees them. */
function refuseDeepBrackets(content: string, refuse: (line: number) => never): void {
  let depth = 0
  let lineNumber = 1
  for (const token of new Lexer().lex(content)) {
    if (token === '[' || token === '{') depth += 1
    else if (token === ']' || token === '}') depth -= 1
    if (depth > DEEPEST) refuse(lineNumber)
    lineNumber += token.split('\n').length - 1
  }
}

function scriptNodes(root: Node | null): readonly Node[] {
  const script = isMap(root) ? root.get('script', true) : null
  return isSeq(script) ? (script.items as Node[]) : []
}
