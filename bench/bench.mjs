/**
 * `npm run bench`: builds dist as it is shipped and the benchmark beside it, and runs it. What it builds and writes lies in
 * bench/dist, which Git does not see.
 */
import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'

const root = fileURLToPath(new URL('..', import.meta.url))
const isBuilt = process.argv.includes('--no-build')

if (!isBuilt) {
  const { status } = spawnSync(process.execPath, ['scripts/build.mjs'], { cwd: root, stdio: 'inherit' })
  if (status !== 0) process.exit(1)
}
await build({
  absWorkingDir: root,
  entryPoints: { main: 'bench/main.ts' },
  outdir: 'bench/dist',
  outExtension: { '.js': '.mjs' },
  bundle: true,
  format: 'esm',
  platform: 'node',
  target: 'node20',
  external: ['better-sqlite3', 'parquet-wasm'],
  logLevel: 'warning',
})
const options = process.argv.slice(2).filter((option) => option !== '--no-build')
// STREAMTOP_BENCH_NODE: options for Node, for example --cpu-prof.
const nodeOptions = (process.env.STREAMTOP_BENCH_NODE ?? '').split(' ').filter(Boolean)
const { status } = spawnSync(process.execPath, [...nodeOptions, 'bench/dist/main.mjs', ...options], { cwd: root, stdio: 'inherit' })
process.exit(status ?? 1)
