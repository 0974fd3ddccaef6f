/**
 * Fetches Spark, Delta and delta-rs, once, into the ignored folder `.spark/`: a Python environment by pip, Delta's jars by Maven,
 * both by name from whatever registries this machine is set up with. What is there is used as it is when the stamp of its
 * ingredients fits; a fetch that broke off has no stamp and is done again from the beginning.
 */
import { createHash } from 'node:crypto'
import { spawn, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

export const SPARK_FOLDER = fileURLToPath(new URL('../../.spark', import.meta.url))

export interface FetchedSpark {
  /** The Python of the environment that has pyspark and deltalake. */
  readonly python: string
  /** The folder of Delta's jars. */
  readonly jars: string
}

/**
 * What is needed to start Spark, fetched when it is not there yet.
 * @returns where it lies, or a sentence that says why it cannot be had on this machine
 */
export async function fetchSpark(say: (line: string) => void = () => {}): Promise<FetchedSpark | string> {
  const missing = missingTool()
  if (missing !== null) return missing
  const environment = join(SPARK_FOLDER, 'venv')
  const fetched: FetchedSpark = { python: join(environment, 'bin', 'python'), jars: join(SPARK_FOLDER, 'jars') }
  const stampFile = join(SPARK_FOLDER, 'stamp')
  const stamp = stampOfIngredients()
  if (existsSync(stampFile) && readFileSync(stampFile, 'utf8') === stamp) return fetched

  for (const left of [stampFile, environment, fetched.jars]) rmSync(left, { recursive: true, force: true })
  mkdirSync(SPARK_FOLDER, { recursive: true })
  say('fetching pyspark 4.2.0, Delta 4.4.0 and deltalake 1.6.6 into .spark/ (once, a minute or two)')
  const pip = ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', '--requirement', ingredient('requirements.txt')]
  const copy = ['-B', '-q', '-f', ingredient('pom.xml'), 'dependency:copy-dependencies', '-DincludeScope=runtime', `-DoutputDirectory=${fetched.jars}`]
  const problem =
    (await run('python3', ['-m', 'venv', environment])) ?? (await run(fetched.python, pip)) ?? (await run('mvn', copy)) ?? (await run(fetched.python, CHECK))
  if (problem !== null) {
    for (const left of [environment, fetched.jars]) rmSync(left, { recursive: true, force: true })
    return `Spark and Delta could not be fetched: ${problem}`
  }
  writeFileSync(stampFile, stamp)
  return fetched
}

const CHECK = ['-c', 'import pyspark, deltalake, pyarrow; assert pyspark.__version__ == "4.2.0" and deltalake.__version__ == "1.6.6"']

/** A tool that is not there or too old, as a sentence; null when all are there. */
function missingTool(): string | null {
  const python = versionOf('python3', ['--version'], /Python (\d+)\.(\d+)/)
  if (python === null) return 'Spark is not run: python3 is missing; it needs Python 3.10 or newer'
  if (python[0] !== 3 || python[1] < 10) return `Spark is not run: python3 is Python ${python.join('.')}, and pyspark 4.2.0 needs 3.10 or newer`
  const home = process.env['JAVA_HOME']
  const java = versionOf(home ? join(home, 'bin', 'java') : 'java', ['-version'], /version "(\d+)(?:\.(\d+))?/)
  if (java === null) return 'Spark is not run: java is missing; it needs Java 17 or newer'
  if (java[0] < 17) return `Spark is not run: java is version ${java.join('.')}, and Spark 4.2 needs 17 or newer`
  if (versionOf('mvn', ['-B', '--version'], /Maven (\d+)\.(\d+)/) === null) return "Spark is not run: mvn (Maven), which fetches Delta's jars, is missing"
  return null
}

function versionOf(command: string, args: readonly string[], pattern: RegExp): [number, number] | null {
  const { error, stdout, stderr } = spawnSync(command, args, { encoding: 'utf8' })
  const found = error ? null : pattern.exec(`${stdout}${stderr}`)
  return found ? [Number(found[1]), Number(found[2] ?? 0)] : null
}

/** Runs a command to its end. @returns what went wrong, or null */
function run(command: string, args: readonly string[]): Promise<string | null> {
  return new Promise((resolve) => {
    const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'pipe'] })
    let said = ''
    for (const stream of [child.stdout, child.stderr]) {
      stream.on('data', (bytes: Buffer) => {
        said = `${said}${bytes.toString('utf8')}`.slice(-2000)
      })
    }
    child.on('error', (error) => resolve(`${command}: ${error.message}`))
    child.on('close', (code) => resolve(code === 0 ? null : `${command} ended with ${code}: ${said.trim()}`))
  })
}

function stampOfIngredients(): string {
  const hash = createHash('sha256')
  for (const file of ['requirements.txt', 'pom.xml']) hash.update(readFileSync(ingredient(file)))
  return `${hash.digest('hex')}\n`
}

function ingredient(file: string): string {
  return fileURLToPath(new URL(file, import.meta.url))
}
