/**
 * The rules that docs/ARCHITECTURE.md states and that a machine can read: who imports whom, which names stand in which file,
 * how long a file may be. Pure: files in, findings out; `test/unit/tidy.test.ts` gives it the tree, and bad snippets.
 */
import { basename, dirname, join, normalize } from 'node:path'

export interface SourceFile {
  /** From the root of the repository, with slashes: `src/store/commit.ts`. */
  readonly path: string
  readonly text: string
}

export interface Finding {
  readonly path: string
  readonly line: number
  readonly problem: string
}

export const LONG_FILE_LINES = 350
export const MOST_FILE_LINES = 450

/** Everything that is wrong with files below src. */
export function checkSource(files: readonly SourceFile[]): Finding[] {
  const parsed = files.map((file) => ({ ...file, code: blank(file.text, { strings: true }), imports: importsOf(file) }))
  return [...parsed.flatMap((file) => [...checkImports(file), ...checkNames(file), ...checkSql(file), ...checkForm(file)]), ...checkStart(parsed)]
}

/** Names of folders and hosts of one machine, in any file that is kept in Git. */
export function checkMachinePaths(files: readonly SourceFile[]): Finding[] {
  return files.flatMap((file) =>
    lineMatches(file.text, MACHINE_PATH).map(({ line, match }) => ({
      path: file.path,
      line,
      problem: `names a place on one machine (${match}); write a relative path`,
    })),
  )
}

/** Files over the length that asks for a second look, longest first. */
export function longFiles(files: readonly SourceFile[]): string[] {
  const long = files.map((file) => ({ path: file.path, lines: lineCount(file.text) })).filter(({ lines }) => lines > LONG_FILE_LINES)
  return long.sort((a, b) => b.lines - a.lines).map(({ path, lines }) => `${path} has ${lines} lines`)
}

interface Import {
  readonly line: number
  /** A package, `node:x`, or for a relative one the path of the file: `src/store/commit.ts`. */
  readonly target: string
  readonly isType: boolean
  /** `import(...)`: loads when it is reached. */
  readonly isLate: boolean
}

interface ParsedFile extends SourceFile {
  /** The text with comments and strings blanked, so that only names of the program are left. */
  readonly code: string
  readonly imports: readonly Import[]
}

/** Which folders of src a folder must not import, and what to do instead. */
const LAYERS: ReadonlyArray<{ readonly from: string; readonly never: readonly string[]; readonly instead: string }> = [
  {
    from: 'store',
    never: ['engine', 'topic', 'queries', 'observe', 'session', 'scenario', 'matrix', 'tui', 'commands'],
    instead: 'the store knows tables only: let the caller pass what it needs in',
  },
  {
    from: 'topic',
    never: ['store', 'engine', 'queries', 'observe', 'session', 'scenario', 'matrix', 'tui', 'commands'],
    instead: 'a topic knows records only: turn them into columns in engine or queries',
  },
  {
    from: 'engine',
    never: ['observe', 'session', 'scenario', 'matrix', 'tui', 'commands'],
    instead: 'the engine knows no screens: report through reach(step)',
  },
  { from: 'queries', never: ['observe', 'session', 'scenario', 'matrix', 'tui', 'commands'], instead: 'a query uses the public functions only' },
  { from: 'observe', never: ['session', 'scenario', 'matrix', 'tui', 'commands'], instead: 'observe gives the status object, others draw it' },
  { from: 'session', never: ['scenario', 'matrix', 'tui', 'commands'], instead: 'a session knows no screens: give what happened as data' },
  { from: 'scenario', never: ['matrix', 'tui', 'commands'], instead: 'the player knows no screens' },
  { from: 'matrix', never: ['session', 'scenario', 'tui', 'commands'], instead: 'the matrix knows no screens: give what was found as data' },
  { from: 'tui', never: ['store', 'matrix', 'commands'], instead: 'the dashboard reads the status object of observe' },
]

/** The topic may share what is only the shape of columns. */
const SHARED_FILES: ReadonlySet<string> = new Set(['src/store/columns.ts', 'src/store/schema.ts'])

/** Packages and modules that one kind of file may name, types included. */
const HOMES: ReadonlyArray<{ readonly target: RegExp; readonly home: RegExp; readonly instead: string }> = [
  { target: /^better-sqlite3$/, home: /^src\/database\.ts$/, instead: 'take openDatabase and the types Database and Statement from src/database.ts' },
  {
    target: /^(parquet-wasm|apache-arrow|hyparquet|hyparquet-compressors)(\/|$)/,
    home: /^src\/store\/parquet[\w-]*\.ts$/,
    instead: 'go through src/store/parquet*.ts',
  },
  { target: /^kafkajs$/, home: /^src\/topic\/kafka[\w-]*\.ts$/, instead: 'go through the interface in src/topic/topic.ts' },
  { target: /^commander$/, home: /^src\/commands\/(program|command-line)\.ts$/, instead: 'describe the option as data (src/commands/verb.ts)' },
  {
    target: /^node:worker_threads$/,
    home: /^src\/(session\/workspace-(thread|client)|engine\/parent-watchdog)\.ts$/,
    instead: 'ask the WorkspaceService (src/session/workspace-service.ts)',
  },
  { target: /^node:fs(\/promises)?$/, home: /^src\/effects\.ts$/, instead: 'use fx.files (src/effects.ts)' },
  { target: /^node:timers(\/promises)?$/, home: /^src\/effects\.ts$/, instead: 'use fx.sleep or fx.every (src/effects.ts)' },
]

/** Names that stand in one file only. */
const NAMES: ReadonlyArray<{ readonly name: RegExp; readonly home: RegExp; readonly instead: string }> = [
  { name: /(?<![.\w$])Date\b/g, home: /^src\/effects\.ts$/, instead: 'use fx.nowMs(); for a civil date, arithmetic on milliseconds' },
  { name: /\bperformance\s*\.\s*now\b/g, home: /^src\/effects\.ts$/, instead: 'use fx.monotonicMs()' },
  { name: /\bMath\s*\.\s*random\b/g, home: /^src\/effects\.ts$/, instead: 'use fx.randomBytes(), or a seeded generator' },
  {
    name: /(?<!\bfx\.)\b(randomUUID|randomBytes\b(?=\s*\()|getRandomValues)\b/g,
    home: /^src\/effects\.ts$/,
    instead: 'use fx.randomUuid() or fx.randomBytes()',
  },
  { name: /(?<![.\w$])(setTimeout|setInterval|setImmediate)\b/g, home: /^src\/effects\.ts$/, instead: 'use fx.sleep or fx.every' },
  { name: /\bprocess\s*\.\s*kill\b/g, home: /^src\/effects\.ts$/, instead: 'use fx.kill' },
  { name: /\bprocess\s*\.\s*(exit|abort|reallyExit)\b/g, home: /^src\/(cli|engine\/child)\.ts$/, instead: 'return an exit code, or throw StreamtopError' },
  { name: /(?<![.\w$])console\s*\./g, home: /^$/, instead: 'write to context.output, or give the text back' },
]

const MARKS_OF_UNFINISHED_WORK = new RegExp(`\\b(${['TO' + 'DO', 'FIX' + 'ME', 'XX' + 'X'].join('|')})\\b`, 'g')
const FORBIDDEN_FILE_NAMES = /^(utils?|helpers?|types|common|misc)\.tsx?$/
const MACHINE_PATH = /(?<![\w.])(\/home\/[\w.-]+|\/Users\/[\w.-]+|\/root\/[\w.-]+|\/work\/[\w.-]+|\/mnt\/[\w.-]+|[A-Z]:\\Users)/g

/** SQL made from a template is allowed with constants (`${UPPER_CASE}`, or a text that the same file declares) and with these. */
const SQL_EXCEPTIONS: ReadonlyArray<{ readonly path: string; readonly expression: string }> = [
  // One of two words that the type allows; a pragma takes no parameters.
  { path: 'src/database.ts', expression: 'journal' },
]

function checkImports(file: ParsedFile): Finding[] {
  const findings: Finding[] = []
  const layer = layerOf(file.path)
  for (const { line, target } of file.imports) {
    const home = HOMES.find((rule) => rule.target.test(target) && !rule.home.test(file.path))
    if (home) findings.push({ path: file.path, line, problem: `imports ${target}; ${home.instead}` })
    const rule = LAYERS.find(({ from, never }) => from === layer && never.includes(layerOf(target)))
    if (rule && !SHARED_FILES.has(target)) findings.push({ path: file.path, line, problem: `${rule.from} imports ${target}; ${rule.instead}` })
    if (target === 'src/cli.ts') findings.push({ path: file.path, line, problem: 'imports src/cli.ts, which is where a process begins and ends' })
  }
  return findings
}

function checkNames(file: ParsedFile): Finding[] {
  return NAMES.filter(({ home }) => !home.test(file.path)).flatMap(({ name, instead }) =>
    lineMatches(file.code, name).map(({ line, match }) => ({ path: file.path, line, problem: `names ${match.replace(/\s/g, '')}; ${instead}` })),
  )
}

function checkSql(file: ParsedFile): Finding[] {
  const text = blank(file.text, { strings: false })
  const findings: Finding[] = []
  const report = (index: number, what: string) =>
    findings.push({ path: file.path, line: lineAt(text, index), problem: `makes SQL from ${what}; use a parameter (?), or a constant` })
  for (const { 1: template = '', index } of text.matchAll(/\.(?:prepare|exec|pragma)\(\s*`([^`]*)`/g)) {
    for (const { 1: expression = '' } of template.matchAll(/\$\{([^}]*)\}/g)) {
      const name = expression.trim()
      const isConstant = /^[A-Z][A-Z0-9_]*$/.test(name) || (/^\w+$/.test(name) && new RegExp(`\\bconst ${name} =\\s*'[^'\n]*'\\s*$`, 'm').test(text))
      const isListed = SQL_EXCEPTIONS.some((exception) => exception.path === file.path && exception.expression === name)
      if (!isConstant && !isListed) report(index, `\${${expression}}`)
    }
  }
  for (const { index } of text.matchAll(/\.(?:prepare|exec|pragma)\(\s*(?:'[^'\n]*'|`[^`]*`)\s*\+/g)) report(index, 'pieces')
  return findings
}

function checkForm(file: ParsedFile): Finding[] {
  const findings = lineMatches(file.text, MARKS_OF_UNFINISHED_WORK).map(({ line, match }) => ({
    path: file.path,
    line,
    problem: `holds a ${match}; do it, or file an issue`,
  }))
  if (FORBIDDEN_FILE_NAMES.test(basename(file.path)))
    findings.push({ path: file.path, line: 1, problem: 'has a name that says nothing; name it after its main export' })
  const lines = lineCount(file.text)
  if (lines > MOST_FILE_LINES)
    findings.push({ path: file.path, line: MOST_FILE_LINES, problem: `has ${lines} lines; split it by purpose (at most ${MOST_FILE_LINES})` })
  return findings
}

/** What `cli.ts` loads before a verb is chosen must be light: every command, `--help` included, pays for it. */
function checkStart(files: readonly ParsedFile[]): Finding[] {
  const byPath = new Map(files.map((file) => [file.path, file]))
  const seen = new Set(['src/cli.ts'])
  const findings: Finding[] = []
  for (const path of seen) {
    for (const { line, target, isType, isLate } of byPath.get(path)?.imports ?? []) {
      if (isType || isLate || seen.has(target) || !target.startsWith('src/')) continue
      if (LIGHT_FILES.test(target)) seen.add(target)
      else findings.push({ path, line, problem: `is loaded at every start and imports ${target}; use "await import(...)" inside run()` })
    }
  }
  return findings
}

const LIGHT_FILES = /^src\/(commands\/[\w-]+|errors|safe-text|version|engine\/steps|matrix\/ways)\.ts$/

function layerOf(path: string): string {
  return /^src\/([\w-]+)\//.exec(path)?.[1] ?? ''
}

function importsOf(file: SourceFile): Import[] {
  const text = blank(file.text, { strings: false })
  const imports: Import[] = []
  const add = (index: number, specifier: string, isType: boolean, isLate: boolean) =>
    imports.push({ line: lineAt(text, index), target: resolveTarget(file.path, specifier), isType, isLate })
  for (const { 1: clause = '', 2: specifier = '', index } of text.matchAll(/^[ \t]*(?:import|export)\b([^'"`;=()]*?)\bfrom\s*['"]([^'"]+)['"]/gm))
    add(index, specifier, isTypeOnly(clause), false)
  for (const { 1: specifier = '', index } of text.matchAll(/^[ \t]*import\s*['"]([^'"]+)['"]/gm)) add(index, specifier, false, false)
  for (const { 1: kind = '', 2: specifier = '', index } of text.matchAll(/(typeof\s+)?\bimport\(\s*['"`]([^'"`]+)['"`]\s*\)/g))
    add(index, specifier, kind !== '', true)
  for (const { 1: specifier = '', index } of text.matchAll(/\brequire(?:\.resolve)?\(\s*['"`]([^'"`]+)['"`]|createRequire\([^)]*\)\(\s*['"`]([^'"`]+)['"`]/g))
    add(index, specifier, false, true)
  return imports
}

/** `import type {...}`, or braces in which every name has its own `type`. */
function isTypeOnly(clause: string): boolean {
  if (/^\s*type\b/.test(clause)) return true
  const names = /^\s*\{([^}]*)\}\s*$/.exec(clause)?.[1]
  return names?.split(',').every((name) => name.trim() === '' || /^type\s/.test(name.trim())) ?? false
}

function resolveTarget(from: string, specifier: string): string {
  if (!specifier.startsWith('.')) return specifier
  return normalize(join(dirname(from), specifier))
    .replace(/\.js$/, '.ts')
    .replace(/\.jsx$/, '.tsx')
}

/**
 * The text with comments, and if asked strings, replaced by blanks, so that lines and columns stay. What stands in `${}` of a
 * template is code and stays. A slash begins a pattern when a value could not stand before it.
 */
export function blank(text: string, { strings }: { readonly strings: boolean }): string {
  let out = ''
  let at = 0
  /** For each template that is open, how many braces are open in its `${}`. */
  const templates: number[] = []
  const skipTo = (end: number, keep: boolean) => {
    out += keep ? text.slice(at, end) : text.slice(at, end).replace(/[^\n]/g, ' ')
    at = end
  }
  while (at < text.length) {
    const two = text.slice(at, at + 2)
    const one = text.charAt(at)
    if (two === '//') skipTo(endOf(text, at, /\n/g, 0), false)
    else if (two === '/*') skipTo(endOf(text, at + 2, /\*\//g, 2), false)
    else if (one === "'" || one === '"') skipTo(endOfString(text, at), !strings)
    else if (one === '/' && patternMayStand(out)) skipTo(endOfPattern(text, at), !strings)
    else if (one === '`') templateText()
    else if (one === '}' && templates.at(-1) === 0) {
      templates.pop()
      templateText()
    } else {
      const open = templates.length - 1
      if (open >= 0 && (one === '{' || one === '}')) templates[open] = (templates[open] ?? 0) + (one === '{' ? 1 : -1)
      skipTo(at + 1, true)
    }
  }
  return out

  /** From the backtick or brace at `at` to the closing backtick or the next `${`. */
  function templateText(): void {
    let end = at + 1
    while (end < text.length && text[end] !== '`' && text.slice(end, end + 2) !== '${') end += text[end] === '\\' ? 2 : 1
    const goesOn = text[end] === '$'
    skipTo(Math.min(text.length, end + (goesOn ? 2 : 1)), !strings)
    if (goesOn) templates.push(0)
  }
}

function endOf(text: string, from: number, pattern: RegExp, length: number): number {
  pattern.lastIndex = from
  const found = pattern.exec(text)
  return found ? found.index + length : text.length
}

function endOfString(text: string, start: number): number {
  let end = start + 1
  while (end < text.length && text[end] !== text[start] && text[end] !== '\n') end += text[end] === '\\' ? 2 : 1
  return Math.min(text.length, end + 1)
}

function endOfPattern(text: string, start: number): number {
  let inClass = false
  let end = start + 1
  for (; end < text.length && text[end] !== '\n'; end++) {
    if (text[end] === '\\') end++
    else if (text[end] === '[') inClass = true
    else if (text[end] === ']') inClass = false
    else if (text[end] === '/' && !inClass) return end + 1
  }
  return end
}

function patternMayStand(before: string): boolean {
  const code = before.trimEnd()
  return code === '' || /[(,=:[!&|?{};+\-*%<>~^]$|\b(return|typeof|case|in|of|await|yield)$/.test(code)
}

function lineMatches(text: string, pattern: RegExp): { line: number; match: string }[] {
  return [...text.matchAll(pattern)].map((found) => ({ line: lineAt(text, found.index), match: found[0] }))
}

function lineAt(text: string, index: number): number {
  // A match may begin at the line end before what it is about.
  const start = index + (/^\s*/.exec(text.slice(index))?.[0].length ?? 0)
  return text.slice(0, start).split('\n').length
}

function lineCount(text: string): number {
  return text.split('\n').length - (text.endsWith('\n') ? 1 : 0)
}
