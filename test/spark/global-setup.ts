/** Before the suite: fetches Spark, and copies the build, so that a build that is made meanwhile does not change it under the tests. */
import { cpSync, existsSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { TestProject } from 'vitest/node'
import { type FetchedSpark, fetchSpark, SPARK_FOLDER } from './fetch.js'

declare module 'vitest' {
  export interface ProvidedContext {
    /** Null where Spark cannot be had and the suite is skipped. */
    spark: FetchedSpark | null
    /** The copied build. */
    dist: string
  }
}

export default async function setup(project: TestProject): Promise<void> {
  const fetched = await fetchSpark((line) => console.log(line))
  if (typeof fetched === 'string') {
    if (process.env['CI']) throw new Error(fetched)
    console.log(`${fetched}. The suite is skipped; with CI set it fails.`)
    project.provide('spark', null)
    project.provide('dist', '')
    return
  }
  const built = fileURLToPath(new URL('../../dist', import.meta.url))
  if (!existsSync(join(built, 'cli.js'))) throw new Error('dist/cli.js is missing: npm run build')
  const dist = join(SPARK_FOLDER, 'dist')
  rmSync(dist, { recursive: true, force: true })
  cpSync(built, dist, { recursive: true })
  project.provide('spark', fetched)
  project.provide('dist', dist)
}
