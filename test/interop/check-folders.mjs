/**
 * `npm run test:fixtures -- FOLDER...`: the checks of `fixtures.test.ts` on any folders of the same form. Each FOLDER has tables/,
 * an expected.json and, where a query ran, checkpoints/, or is a folder of such folders. Prints one line for each part of each, what
 * differed below it, and exits 1 when something did, 2 for a folder that is none.
 */
import { existsSync, readdirSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { startVitest } from 'vitest/node'

const folders = process.argv.slice(2).flatMap((path) => fixturesAt(resolve(process.env.INIT_CWD ?? '.', path)))
if (folders.length === 0) {
  process.stderr.write('usage: npm run test:fixtures -- FOLDER...\na FOLDER holds an expected.json, or folders that do\n')
  process.exit(2)
}
process.env.STREAMTOP_FIXTURES = JSON.stringify(folders)

const count = { passed: 0, failed: 0 }
const reporter = {
  onTestCaseResult(test) {
    const { state, errors = [] } = test.result()
    const isOk = state === 'passed'
    count[isOk ? 'passed' : 'failed']++
    process.stdout.write(`${isOk ? 'ok    ' : 'FAILED'} ${test.name}\n`)
    for (const error of errors) for (const line of error.message.split('\n')) process.stdout.write(`         ${line}\n`)
  },
  onTestModuleEnd(module) {
    for (const error of module.errors()) process.stdout.write(`FAILED ${error.message}\n${error.stack ?? ''}\n`)
  },
}
const root = fileURLToPath(new URL('../..', import.meta.url))
const vitest = await startVitest('test', ['test/interop/fixtures.test.ts'], { root, watch: false, reporters: [reporter] })
await vitest.close()
process.stdout.write(`\n${folders.length} folders: ${count.passed} passed, ${count.failed} failed\n`)
process.exitCode = count.failed === 0 && count.passed > 0 && !process.exitCode ? 0 : 1

function fixturesAt(path) {
  if (existsSync(join(path, 'expected.json'))) return [path]
  const below = existsSync(path) ? readdirSync(path).map((name) => join(path, name)) : []
  const found = below.filter((folder) => existsSync(join(folder, 'expected.json'))).sort()
  if (found.length > 0) return found
  process.stderr.write(`${path} holds no expected.json and no folder that does\n`)
  process.exit(2)
}
