/**
 * Builds test programs with src in a folder of their own, for nobody but this run. There `src/effects.ts` has watched system calls in
 * place of `node:fs` (system-calls.ts), and each life has a pid of its own (torture-effects.ts). A file of src may be replaced by
 * another text: a planted bug.
 */
import { mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'

const root = fileURLToPath(new URL('../..', import.meta.url))

/**
 * @param {Record<string, string>} entries TypeScript files by the names of what is built of them
 * @param {{replaced?: Map<string, string>, isWatched?: boolean}} options texts by the paths of files in src; whether calls are watched
 * and lives have pids, which they do unless it is said
 * @returns {Promise<{path(name: string): string, remove(): void}>}
 */
export async function bundle(entries, { replaced = new Map(), isWatched = true } = {}) {
  const folder = mkdtempSync(join(tmpdir(), 'streamtop-bundle-'))
  // Packages are looked for from where the program lies.
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'))
  const remove = () => rmSync(folder, { recursive: true, force: true })
  try {
    await build({
      absWorkingDir: root,
      entryPoints: entries,
      outdir: folder,
      outExtension: { '.js': '.mjs' },
      bundle: true,
      splitting: true,
      chunkNames: '[name]-[hash]',
      format: 'esm',
      platform: 'node',
      target: 'node20',
      packages: 'external',
      sourcemap: 'inline',
      define: isWatched ? { 'process.pid': 'globalThis.pidOfLife' } : {},
      alias: { vitest: './test/torture/no-vitest.ts' },
      logLevel: 'warning',
      logOverride: { 'import-is-undefined': 'error' },
      plugins: [...(isWatched ? [watchedCalls()] : []), replacedFiles(replaced)],
    })
  } catch (error) {
    remove()
    throw error
  }
  return { path: (name) => join(folder, `${name}.mjs`), remove }
}

function watchedCalls() {
  return {
    name: 'watched-calls',
    setup(building) {
      building.onResolve({ filter: /^node:fs$/ }, ({ importer }) =>
        importer === join(root, 'src', 'effects.ts') ? { path: join(root, 'test', 'torture', 'system-calls.ts') } : undefined,
      )
    },
  }
}

function replacedFiles(replaced) {
  return {
    name: 'replaced-files',
    setup(building) {
      building.onLoad({ filter: /[\\/]src[\\/].*\.ts$/ }, ({ path }) => {
        const contents = replaced.get(path.slice(root.length))
        return contents === undefined ? undefined : { contents, loader: 'ts' }
      })
    },
  }
}
