/**
 * Builds dist: the command (cli.js), the public library (index.js), the component for Ink (tui.js), a query's child process (child.js),
 * the dashboard's thread (workspace-thread.js), the queries of the matrix (matrix-queries.js), the chunks they share, and the types.
 * Everything that is not native or WebAssembly is bundled, so that a start reads a few files; Ink and React belong to the program that
 * the component is put into.
 *
 * Splitting keeps each `await import(...)` in src a file of its own that loads when it is needed. All files lie flat in dist, so
 * that a path relative to `import.meta.url` is the same from every chunk.
 */
import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
const entryPoints = {
  cli: 'src/cli.ts',
  index: 'src/index.ts',
  child: 'src/engine/child.ts',
  tui: 'src/tui/index.tsx',
  'workspace-thread': 'src/session/workspace-thread.ts',
  'matrix-queries': 'src/matrix/matrix-queries.ts',
}

const LICENSES = 'third-party-licenses.txt'
const BUILTIN_REQUIRED = /require\('(node:\w+|assert|buffer|crypto|events|net|process|tls|util|zlib)'\)/g

let esbuild
try {
  esbuild = await import('esbuild')
} catch (error) {
  // `npm ci --omit=dev` runs `prepare` too; then there is nothing to build with, and what dist holds stays.
  if (error.code !== 'ERR_MODULE_NOT_FOUND') throw error
  console.error('esbuild is not installed (a development package), so dist was not built')
  process.exit(0)
}

const present = Object.fromEntries(Object.entries(entryPoints).filter(([, path]) => existsSync(join(root, path))))
const { metafile } = await esbuild.build({
  absWorkingDir: root,
  entryPoints: present,
  outdir: 'dist',
  bundle: true,
  splitting: true,
  chunkNames: '[name]-[hash]',
  format: 'esm',
  platform: 'node',
  target: 'node20',
  external: ['better-sqlite3', 'parquet-wasm', 'ink', 'react'],
  jsx: 'automatic',
  define: { 'process.env.NODE_ENV': '"production"' },
  // Not minified: it makes a start no shorter, and a stack trace keeps its names and lines.
  minify: false,
  legalComments: 'none',
  metafile: true,
  plugins: [requireOfBuiltins()],
  logLevel: 'warning',
})

writeFileSync(join(root, 'dist', LICENSES), licensesOf(Object.keys(metafile.inputs)))
removeAllBut(new Set([...Object.keys(metafile.outputs).map((path) => basename(path)), 'types', LICENSES]))
if (present.index) emitTypes()

/** CommonJS packages call `require` on Node's own modules, which a bundle of ES modules does not have. */
function requireOfBuiltins() {
  return {
    name: 'require-of-builtins',
    setup(build) {
      build.onLoad({ filter: /node_modules.(commander.lib|kafkajs.src|yaml.dist).*\.js$/ }, ({ path }) => ({
        contents: readFileSync(path, 'utf8').replace(BUILTIN_REQUIRED, "globalThis.process.getBuiltinModule('$1')"),
        loader: 'js',
      }))
    },
  }
}

/** The licences of the packages that are in the bundle: they ask to be passed on with the code. */
function licensesOf(inputs) {
  const folders = new Set(inputs.flatMap((path) => path.match(/^.*node_modules\/(?:@[^/]+\/)?[^/]+/) ?? []))
  return [...folders]
    .sort()
    .map(licenseOf)
    .join(`\n${'-'.repeat(80)}\n\n`)
}

function licenseOf(folder) {
  const { name, version, license } = JSON.parse(readFileSync(join(root, folder, 'package.json'), 'utf8'))
  const texts = readdirSync(join(root, folder)).filter((file) => /^(licen[cs]e|notice)(\.\w+)?$/i.test(file))
  return [`${name} ${version} (${license})\n`, ...texts.map((file) => readFileSync(join(root, folder, file), 'utf8'))].join('\n')
}

/** Files of an earlier build go after the new ones are there, so that a process that starts meanwhile finds a whole dist. */
function removeAllBut(names) {
  for (const name of readdirSync(join(root, 'dist'))) {
    if (!names.has(name)) rmSync(join(root, 'dist', name), { recursive: true })
  }
}

function emitTypes() {
  rmSync(join(root, 'dist/types'), { recursive: true, force: true })
  const tsc = fileURLToPath(new URL('../node_modules/typescript/bin/tsc', import.meta.url))
  const { status } = spawnSync(process.execPath, [tsc, '-p', 'tsconfig.build.json'], { cwd: root, stdio: 'inherit' })
  if (status !== 0) process.exit(1)
}
