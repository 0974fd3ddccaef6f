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

test('the thread loads nothing of Kafka before a session is on it', async () => {
  const { metafile } = await build({
    ...{ absWorkingDir: ROOT, entryPoints: ['src/session/workspace-thread.ts'], outdir: 'unused', platform: 'node', format: 'esm', packages: 'external' },
    ...{ bundle: true, splitting: true, write: false, metafile: true },
  })
  const atOnce = new Set(Object.keys(metafile.inputs).filter((path) => path.endsWith('workspace-thread.ts')))
  for (const path of atOnce) for (const { path: imported, kind } of metafile.inputs[path]?.imports ?? []) if (kind === 'import-statement') atOnce.add(imported)
  const everything = [...Object.keys(metafile.inputs), ...Object.values(metafile.inputs).flatMap(({ imports }) => imports.map(({ path }) => path))]
  expect(everything).toEqual(expect.arrayContaining(['kafkajs', 'src/topic/kafka-producer.ts']))
  expect([...atOnce].filter((path) => path.includes('kafka'))).toEqual([])
})
