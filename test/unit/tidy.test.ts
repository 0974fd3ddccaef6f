import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { blank, checkMachinePaths, checkSource, type Finding, longFiles, MOST_FILE_LINES, type SourceFile } from '../tidy-rules.js'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))

describe('the tree', () => {
  test('src keeps the rules', () => {
    const files = sourceFiles()
    expect(files.length).toBeGreaterThan(5)
    const long = longFiles(files)
    if (long.length > 0) console.warn(`long files, look whether they have one purpose:\n${long.join('\n')}`)
    expect(lines(checkSource(files))).toEqual([])
  })

  test('no file that is kept in Git names a place on one machine', () => {
    expect(lines(checkMachinePaths(keptFiles()))).toEqual([])
  })
})

describe('each rule finds what it is for', () => {
  test.each([
    ['src/store/a.ts', "import { x } from '../engine/query.js'", 'store imports src/engine/query.ts'],
    ['src/store/a.ts', "import type { Topic } from '../topic/topic.js'", 'store imports src/topic/topic.ts'],
    ['src/store/a.ts', "export { x } from '../engine/query.js'", 'store imports'],
    ['src/store/a.ts', "import {\n  x,\n} from '../engine/query.js'", 'store imports'],
    ['src/store/a.ts', "const x = await import('../engine/query.js')", 'store imports'],
    ['src/engine/a.ts', "import { draw } from '../tui/draw.js'", 'engine imports src/tui/draw.ts'],
    ['src/engine/deep/a.ts', "import { status } from '../../observe/status.js'", 'engine imports src/observe/status.ts'],
    ['src/engine/a.ts', "import { play } from '../scenario/play.js'", 'engine imports'],
    ['src/topic/a.ts', "import { commit } from '../store/commit.js'", 'topic imports'],
    ['src/topic/a.ts', "import { plan } from '../engine/plan.js'", 'topic imports'],
    ['src/tui/a.tsx', "import { openStore } from '../store/store.js'", 'tui imports'],
    ['src/matrix/a.ts', "import { frameOf } from '../tui/frame.js'", 'matrix imports'],
    ['src/engine/a.ts', "import { WAYS } from '../matrix/ways.js'", 'engine imports'],
    ['src/engine/a.ts', "import '../cli.js'", 'imports src/cli.ts'],
    ['src/store/a.ts', "import type { Database } from 'better-sqlite3'", 'imports better-sqlite3; take openDatabase'],
    ['src/store/a.ts', "const d = require('better-sqlite3')", 'imports better-sqlite3'],
    ['src/store/a.ts', "let d: typeof import('better-sqlite3')", 'imports better-sqlite3'],
    ['src/store/commit.ts', "import { tableFromIPC } from 'apache-arrow'", 'imports apache-arrow; go through src/store/parquet'],
    ['src/engine/parquet.ts', "import 'parquet-wasm/node'", 'imports parquet-wasm/node'],
    ['src/store/a.ts', "import { parquetRead } from 'hyparquet'", 'imports hyparquet'],
    ['src/topic/embedded.ts', "import { Kafka } from 'kafkajs'", 'imports kafkajs'],
    ['src/commands/run.ts', "import { Option } from 'commander'", 'imports commander'],
    ['src/engine/a.ts', "import { existsSync } from 'node:fs'", 'imports node:fs; use fx.files'],
    ['src/engine/a.ts', "import type { Stats } from 'node:fs/promises'", 'imports node:fs/promises'],
    ['src/engine/a.ts', "import { setTimeout as wait } from 'node:timers/promises'", 'imports node:timers/promises'],
    ['src/engine/a.ts', 'const now = Date.now()', 'names Date; use fx.nowMs()'],
    ['src/engine/a.ts', 'const now = new Date(5)', 'names Date'],
    ['src/engine/a.ts', `const text = \`at \${new Date(5)}\``, 'names Date'],
    ['src/engine/a.ts', 'const t = performance.now()', 'names performance.now'],
    ['src/engine/a.ts', 'const r = Math\n  .random()', 'names Math.random'],
    ['src/engine/a.ts', "import { randomUUID } from 'node:crypto'", 'names randomUUID'],
    ['src/engine/a.ts', 'const b = randomBytes(4)', 'names randomBytes'],
    ['src/engine/a.ts', 'setTimeout(go, 5)', 'names setTimeout; use fx.sleep'],
    ['src/engine/a.ts', 'const t = setInterval(go, 5)', 'names setInterval'],
    ['src/engine/a.ts', "process.kill(1, 'SIGKILL')", 'names process.kill; use fx.kill'],
    ['src/engine/a.ts', 'process.exit(1)', 'names process.exit; return an exit code'],
    ['src/engine/a.ts', "console.log('x')", 'names console.'],
    ['src/cli.ts', "console.error('x')", 'names console.'],
    ['src/store/a.ts', `db.prepare(\`SELECT * FROM \${name}\`)`, 'makes SQL from ${name}'],
    ['src/store/a.ts', `db.exec(\n  \`DROP TABLE x;\n DROP TABLE \${name}\`,\n)`, 'makes SQL from ${name}'],
    ['src/store/a.ts', `const name = 'a' + given\ndb.prepare(\`SELECT \${name}\`)`, 'makes SQL from ${name}'],
    ['src/store/a.ts', "db.pragma('user_version = ' + version)", 'makes SQL from pieces'],
    ['src/store/a.ts', `db.pragma(\`journal_mode = \${journal}\`)`, 'makes SQL from'],
    ['src/store/utils.ts', '', 'has a name that says nothing'],
    ['src/engine/types.ts', '', 'has a name that says nothing'],
    ['src/store/a.ts', `// ${'TO' + 'DO'}: later`, 'do it, or file an issue'],
    ['src/store/a.ts', '\n'.repeat(MOST_FILE_LINES + 1), 'split it by purpose'],
  ])('%s: %s', (path, text, problem) => {
    expect(lines(checkSource([{ path, text }])).join('\n')).toContain(problem)
  })

  test('the line is that of the import, not of what stands before it', () => {
    const text = "/** What it is. */\n\nimport { a } from './a.js'\n\nimport {\n  b,\n} from '../engine/b.js'\n"
    expect(checkSource([{ path: 'src/store/a.ts', text }])).toEqual([expect.objectContaining({ path: 'src/store/a.ts', line: 5 })])
  })

  test('what a start loads is followed from cli.ts', () => {
    const cli = { path: 'src/cli.ts', text: "import { VERBS } from './commands/registry.js'" }
    const registry = { path: 'src/commands/registry.ts', text: "import { run } from './run.js'" }
    const heavy = { path: 'src/commands/run.ts', text: "import { openStore } from '../store/store.js'" }
    const light = {
      path: 'src/commands/run.ts',
      text: "import type { Store } from '../store/store.js'\nimport { type A, type B } from '../engine/a.js'\nimport { STEPS } from '../engine/steps.js'\nconst s = await import('../store/store.js')",
    }
    expect(lines(checkSource([cli, registry, heavy]))).toEqual([
      'src/commands/run.ts:1 is loaded at every start and imports src/store/store.ts; use "await import(...)" inside run()',
    ])
    expect(lines(checkSource([cli, registry, light]))).toEqual([])
    expect(lines(checkSource([{ ...cli, text: '' }, registry, heavy]))).toEqual([])
  })

  test.each([
    ['Dockerfile', 'WORKDIR /home/ann/streamtop'],
    ['README.md', 'open /Users/ann/x'],
    ['test/unit/a.test.ts', "const folder = '/home/ann/x'"],
  ])('a machine in %s', (path, text) => {
    expect(checkMachinePaths([{ path, text }])).toHaveLength(1)
  })
})

describe('what is allowed is let through', () => {
  test.each([
    ['src/store/a.ts', "// import { x } from '../engine/query.js'\n/* Date.now() */\nconst text = 'new Date() setTimeout() process.exit()'"],
    ['src/store/a.ts', "const pattern = /'/\nconst text = 'Date'\nconst half = total / 2 / Number('1')"],
    ['src/store/a.ts', "const type = { kind: 'date', updateDate: 1 }\nrow.setTimeout\nconst fromDateParts = 1"],
    ['src/store/a.ts', `db.prepare(\`SELECT \${COLUMNS} FROM log WHERE table_name = ?\`)`],
    ['src/store/a.ts', `const columns = 'a, b'\ndb.prepare(\`SELECT \${columns} FROM log\`)`],
    ['src/database.ts', `db.pragma(\`journal_mode = \${journal}\`)\nimport type { Database } from 'better-sqlite3'`],
    ['src/effects.ts', "import * as fs from 'node:fs'\nDate.now(); Math.random(); setTimeout(f, 1); process.kill(1, 0)"],
    ['src/store/parquet-read.ts', "import { parquetRead } from 'hyparquet'\nconst w = await import('parquet-wasm')"],
    ['src/topic/a.ts', "import type { Columns } from '../store/columns.js'\nimport { StreamtopError } from '../errors.js'"],
    ['src/engine/child.ts', 'process.exit(0)'],
    ['src/engine/a.ts', "import { appendRows } from '../store/append.js'\nconst id = fx.randomUuid()\nconst b = fx.randomBytes(4)"],
  ])('%s: %s', (path, text) => {
    expect(lines(checkSource([{ path, text }]))).toEqual([])
  })

  test('folders that no machine owns', () => {
    expect(checkMachinePaths([{ path: 'a.md', text: 'see https://example.org/home/page, ./home/x, src/home/y and /base/w' }])).toEqual([])
  })
})

test('blanking keeps lines, columns and the code inside templates', () => {
  const text = "a('x') // c\n/* d\ne */ `f ${g(`h ${i}`)} j` + /[/'\"]/.test(k) / l\n"
  const blanked = blank(text, { strings: true })
  expect(blanked).toHaveLength(text.length)
  expect(blanked.split('\n')).toHaveLength(text.split('\n').length)
  expect(blanked.replace(/\s+/g, '')).toBe('a()g(i)+.test(k)/l')
  expect(blank(text, { strings: false }).replace(/\s+/g, '')).toBe("a('x')`f${g(`h${i}`)}j`+/[/'\"]/.test(k)/l")
})

function lines(findings: readonly Finding[]): string[] {
  return findings.map(({ path, line, problem }) => `${path}:${line} ${problem}`)
}

function sourceFiles(): SourceFile[] {
  const paths = readdirSync(join(ROOT, 'src'), { recursive: true, encoding: 'utf8' }).filter((path) => /\.tsx?$/.test(path))
  return paths.map((path) => read(`src/${path}`))
}

/** What Git keeps or would keep; without Git (an unpacked archive) only src. The rules and this test hold bad examples on purpose. */
function keptFiles(): SourceFile[] {
  let paths: string[]
  try {
    paths = execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], {
      cwd: ROOT,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    }).split('\0')
  } catch {
    return sourceFiles()
  }
  const texts = paths.filter((path) => path !== '' && !/tidy(-rules|\.test)\.ts$/.test(path) && statSync(join(ROOT, path), { throwIfNoEntry: false })?.isFile())
  return texts.map(read).filter(({ text }) => !text.includes('\0'))
}

function read(path: string): SourceFile {
  return { path, text: readFileSync(join(ROOT, path), 'utf8') }
}
