/** What a main thread loads that draws a session: nothing that opens a database or a Parquet file. */
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { expect, test } from 'vitest'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))

async function loadedBy(...entryPoints: string[]): Promise<string[]> {
  const { metafile } = await build({
    absWorkingDir: ROOT,
    entryPoints,
    outdir: 'unused',
    bundle: true,
    write: false,
    metafile: true,
    platform: 'node',
    format: 'esm',
    packages: 'external',
  })
  const packages = Object.values(metafile.outputs).flatMap(({ imports }) => imports.map(({ path }) => path).filter((path) => !path.startsWith('node:')))
  return [...Object.keys(metafile.inputs), ...packages]
}

test('session, client and process runner stay clear of store, topic, queries and every package', async () => {
  const loaded = await loadedBy('src/session/live-session.ts', 'src/session/workspace-client.ts', 'src/engine/process-runner.ts')
  expect(loaded).toContain('src/session/looks.ts')
  expect(
    loaded.filter((path) => !/^src\/(session\/[\w-]+|engine\/(process-runner|messages|runner)|observe\/(counted|status-error)|effects|errors)\.ts$/.test(path)),
  ).toEqual([])
})

test('the thread loads what they leave out', async () => {
  expect(await loadedBy('src/session/workspace-thread.ts')).toContain('src/database.ts')
})
