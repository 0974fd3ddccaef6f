/**
 * `npm run bench`: builds dist as it is shipped and the benchmark beside it, and runs it in this process (so that
 * `node --cpu-prof bench/bench.mjs` says where the time goes). What it builds and writes lies in
 * bench/dist, which Git does not see.
 */
import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'

const root = fileURLToPath(new URL('..', import.meta.url))
if (!process.argv.includes('--no-build')) {
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
  external: ['better-sqlite3', 'parquet-wasm', 'kafkajs', '@lydell/node-pty', '@xterm/headless'],
  logLevel: 'warning',
})
await import('./dist/main.mjs')
