import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
import { isBuiltin } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import packageJson from '../../package.json' with { type: 'json' }

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const HOME = mkdtempSync(join(tmpdir(), 'streamtop-package-'))
/** Where the tarball is unpacked: a package among its runtime dependencies, as npm would install it. */
const INSTALLED = join(HOME, 'node_modules', 'streamtop')

let packed: string[]

beforeAll(() => {
  // `npm test` has built dist; npm's own build would only repeat that.
  const [tarball] = JSON.parse(execFileSync('npm', ['pack', '--json', '--ignore-scripts', '--pack-destination', HOME], { cwd: ROOT, encoding: 'utf8' })) as {
    filename: string
    files: { path: string }[]
  }[]
  packed = tarball?.files.map(({ path }) => path) ?? []
  mkdirSync(INSTALLED, { recursive: true })
  execFileSync('tar', ['-xzf', join(HOME, tarball?.filename ?? ''), '-C', INSTALLED, '--strip-components=1'])
  for (const name of Object.keys(packageJson.dependencies)) symlinkSync(join(ROOT, 'node_modules', name), join(HOME, 'node_modules', name))
})

afterAll(() => rmSync(HOME, { recursive: true, force: true }))

describe('the tarball', () => {
  test('holds what a user needs and nothing else', () => {
    const besidesDist = packed.filter((path) => !path.startsWith('dist/') && !path.startsWith('scenarios/'))
    expect(besidesDist.sort()).toEqual(['LICENSE', 'README.md', 'package.json'])
    expect(packed).toContain('dist/cli.js')
    for (const path of packed.filter((path) => path.startsWith('dist/'))) expect(path).toMatch(/\.(js|d\.ts|txt)$/)
    expect(packed).toContain('scenarios/02-plain-append-duplicates.yaml')
    for (const path of packed.filter((path) => path.startsWith('scenarios/')))
      expect(path).toMatch(/^scenarios\/(\d\d-[a-z-]+\.(yaml|mjs)|scenario\.schema\.json|README\.md)$/)
  })

  test('has what package.json points to', () => {
    const { '.': library, './tui': component } = packageJson.exports
    for (const path of [packageJson.bin.streamtop, library.default, library.types, component.default, component.types])
      expect(packed).toContain(path.replace(/^\.\//, ''))
  })

  test('names no package beside the runtime dependencies, and in the component those that it is put into', () => {
    for (const path of readdirSync(join(INSTALLED, 'dist'))) {
      if (!path.endsWith('.js')) continue
      const foreign = new Set<string>()
      const text = readFileSync(join(INSTALLED, 'dist', path), 'utf8')
      for (const { 1: target = '' } of text.matchAll(/^(?:import|export)\b[^'"\n]*['"]([^'"\n]+)['"]/gm))
        if (!target.startsWith('.') && !isBuiltin(target)) foreign.add(target.split('/')[0] ?? '')
      const { dependencies, peerDependencies } = packageJson
      const allowed = Object.keys(path === 'tui.js' ? { ...dependencies, ...peerDependencies } : dependencies)
      for (const name of foreign) expect(allowed, path).toContain(name)
    }
  })
})

describe('the public types', () => {
  test('of the library name no package, so that they need none to be installed', () => {
    expect(packagesNamed(packageJson.exports['.'].types)).toEqual([])
  })

  test('of the component name React alone', () => {
    expect([...new Set(packagesNamed(packageJson.exports['./tui'].types).map((name) => name.split('/')[0]))]).toEqual(['react'])
  })
})

describe('the installed command', () => {
  test('--help and --version', () => {
    expect(streamtop(['--version'])).toMatchObject({ status: 0, stdout: `${packageJson.version}\n`, stderr: '' })
    const help = streamtop(['--help'])
    expect(help).toMatchObject({ status: 0, stderr: '' })
    expect(help.stdout).toMatch(/^Usage: streamtop \[VERB\]/)
  })

  test('exits 2 when the words are wrong, with an answer on stderr only', () => {
    expect(streamtop(['no-such-verb'])).toMatchObject({ status: 2, stdout: '' })
  })

  test('says in a sentence what to do when the native part of SQLite is missing', () => {
    const linked = join(HOME, 'node_modules', 'better-sqlite3')
    rmSync(linked)
    cpSync(join(ROOT, 'node_modules', 'better-sqlite3'), linked, { recursive: true, filter: (path) => !path.endsWith('.node') && !/[\\/]deps$/.test(path) })
    for (const name of ['bindings', 'file-uri-to-path']) symlinkSync(join(ROOT, 'node_modules', name), join(HOME, 'node_modules', name))

    const { status, stderr } = streamtop(['produce', '--all'])

    expect({ status, stderr }).toEqual({
      status: 1,
      stderr:
        'streamtop: the SQLite binding (better-sqlite3) could not be loaded\n' +
        'run "npm rebuild better-sqlite3", with a C++ compiler installed where there is no prebuilt binary, and allow its install script when npm asks\n',
    })
    rmSync(linked, { recursive: true })
    symlinkSync(join(ROOT, 'node_modules', 'better-sqlite3'), linked)
  })

  test('a public library that can be imported by its name', () => {
    const script =
      "const { query, topic, table, append, foreachBatch } = await import('streamtop'); console.log([query, topic, table, append, foreachBatch].map((f) => typeof f).join())"
    const { stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', script], { cwd: HOME, encoding: 'utf8' })
    expect(stderr).toBe('')
    expect(stdout).toBe('function,function,function,function,function\n')
  })

  test('a component that can be imported where Ink and React are', () => {
    for (const name of Object.keys(packageJson.peerDependencies)) symlinkSync(join(ROOT, 'node_modules', name), join(HOME, 'node_modules', name))
    const { stdout, stderr } = spawnSync(process.execPath, ['-e', "import('streamtop/tui').then(({ Dashboard }) => console.log(typeof Dashboard))"], {
      cwd: HOME,
      encoding: 'utf8',
    })
    expect({ stdout, stderr }).toEqual({ stdout: 'function\n', stderr: '' })
  })
})

describe('how a process ends', () => {
  test.each([
    ['SIGINT', 130],
    ['SIGTERM', 143],
    ['SIGHUP', 129],
  ] as const)('%s lets the verb end, then exits %i', async (signal, exitCode) => {
    const ended = await signalled('wait', [signal])
    expect(ended).toEqual({ exitCode, stdout: 'ready\nended cleanly\n' })
  })

  test('a second ctrl-c ends at once', async () => {
    expect(await signalled('linger', ['SIGINT', 'SIGINT'])).toEqual({ exitCode: 130, stdout: 'ready\nasked\n' })
  })

  test.each([
    ['a verb that goes on, quietly', 'chatter', ''],
    ['a verb that is heard no more cleanly, and', 'listener', 'ended cleanly\n'],
  ])('a closed pipe ends %s with 0', async (_, verb, said) => {
    const child = spawn(process.execPath, [await slowCommand(), verb], { stdio: ['ignore', 'pipe', 'pipe'] })
    let stderr = ''
    child.stderr.on('data', (data) => {
      stderr += data
    })
    child.stdout.once('data', () => child.stdout.destroy())
    const exitCode = await new Promise((resolve) => child.on('close', resolve))
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: said })
  })
})

/** Packages that are named by a file of types and those that it is made of. */
function packagesNamed(types: string): string[] {
  const seen = new Set([join(INSTALLED, types)])
  const foreign: string[] = []
  for (const path of seen) {
    for (const { 1: target = '' } of readFileSync(path, 'utf8').matchAll(/\b(?:from|import\()\s*['"]([^'"]+)['"]/g)) {
      if (target.startsWith('.')) seen.add(join(path, '..', target.replace(/\.js$/, '.d.ts')))
      else if (!target.startsWith('node:')) foreign.push(target)
    }
  }
  return foreign
}

/** Runs the command that was unpacked, in a folder of its own. */
function streamtop(words: string[]) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [join(INSTALLED, 'dist/cli.js'), ...words], { cwd: HOME, encoding: 'utf8' })
  return { status, stdout, stderr }
}

/** Sends the first signal once the verb says `ready`, each further one when it has printed again. */
async function signalled(verb: string, signals: readonly NodeJS.Signals[]): Promise<{ exitCode: number | null; stdout: string }> {
  const child = spawn(process.execPath, [await slowCommand(), verb], { stdio: ['ignore', 'pipe', 'inherit'] })
  const waiting = [...signals]
  let stdout = ''
  child.stdout.on('data', (data) => {
    stdout += data
    const next = waiting.shift()
    if (next) child.kill(next)
  })
  const exitCode = await new Promise<number | null>((resolve) => child.on('close', resolve))
  return { exitCode, stdout }
}

let slow: Promise<string> | undefined

/** cli.ts itself, with verbs that take their time in place of the real ones. */
function slowCommand(): Promise<string> {
  const outfile = join(HOME, 'slow-command.mjs')
  const verbs = `
    const asked = (signal) => new Promise((resolve) => signal.addEventListener('abort', resolve))
    const keepAlive = () => setInterval(() => undefined, 1_000)
    export const VERBS = [
      { name: 'wait', summary: 'waits to be asked', run: async ({ signal, output }) => {
        const timer = keepAlive(); output.stdout('ready\\n'); await asked(signal); output.stdout('ended cleanly\\n'); clearInterval(timer); return 0
      } },
      { name: 'linger', summary: 'does not end when asked', run: async ({ signal, output }) => {
        keepAlive(); output.stdout('ready\\n'); await asked(signal); output.stdout('asked\\n'); return new Promise(() => undefined)
      } },
      { name: 'chatter', summary: 'prints without end', run: async ({ output }) => {
        for (;;) { output.stdout('x'.repeat(1_000) + '\\n'); await new Promise((resolve) => setImmediate(resolve)) }
      } },
      { name: 'listener', summary: 'prints until it is asked to end', run: async ({ signal, output }) => {
        while (!signal.aborted) { output.stdout('x'.repeat(1_000) + '\\n'); await new Promise((resolve) => setImmediate(resolve)) }
        if (output.isUnread()) output.stderr('ended cleanly\\n')
        return 0
      } },
    ]`
  slow ??= build({
    absWorkingDir: ROOT,
    entryPoints: ['src/cli.ts'],
    outfile,
    bundle: true,
    format: 'esm',
    platform: 'node',
    banner: { js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);" },
    logLevel: 'warning',
    plugins: [
      {
        name: 'slow-verbs',
        setup(setup) {
          setup.onLoad({ filter: /commands.registry\.ts$/ }, () => ({ contents: verbs, loader: 'ts' }))
        },
      },
    ],
  }).then(() => outfile)
  return slow
}
