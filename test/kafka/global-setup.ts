/** Before the suite: fetches Kafka, and copies the build and the scenarios, so that a build that is made meanwhile does not change it under the tests. */
import { cpSync, existsSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { TestProject } from 'vitest/node'
import { fetchKafka } from '../../scripts/kafka-broker.mjs'

declare module 'vitest' {
  export interface ProvidedContext {
    /** The folder of Kafka's jars; empty where Kafka cannot be had and the suite is skipped. */
    kafkaJars: string
    /** The copied build. */
    kafkaDist: string
  }
}

export default async function setup(project: TestProject): Promise<void> {
  const fetched = await fetchKafka((line) => console.log(line))
  if (typeof fetched !== 'string') {
    const built = fileURLToPath(new URL('../../dist', import.meta.url))
    if (!existsSync(join(built, 'cli.js'))) throw new Error('dist/cli.js is missing: npm run build')
    const dist = join(fetched.jars, '..', 'dist')
    // Scenarios lie beside the build, as in the package.
    for (const name of ['dist', 'scenarios']) {
      rmSync(join(dist, '..', name), { recursive: true, force: true })
      cpSync(join(built, '..', name), join(dist, '..', name), { recursive: true })
    }
    project.provide('kafkaJars', fetched.jars)
    project.provide('kafkaDist', dist)
    return
  }
  if (process.env['CI']) throw new Error(fetched)
  console.log(`${fetched}. The suite is skipped; with CI set it fails.`)
  project.provide('kafkaJars', '')
  project.provide('kafkaDist', '')
}
