/**
 * The Python process with the Spark session (`worker.py`), from this side: commands in, answers out. It and the JVM are one process
 * group, which `stop` ends; when this process dies instead, the closed stdin does.
 */
import { type ChildProcessByStdio, spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import type { Readable, Writable } from 'node:stream'
import { fileURLToPath } from 'node:url'
import type { FetchedSpark } from './fetch.js'

/** What `stream` in worker.py takes. */
export interface StreamCommand {
  readonly workspace: string
  readonly query: 'copy' | 'merge' | 'append'
  readonly name: string
  /** A table of the workspace, or a topic where `kafka` names its brokers. */
  readonly source: string
  readonly kafka?: string
  readonly sink: string
  readonly where?: string
  readonly idempotent?: boolean
  readonly appId?: string
  readonly options?: Readonly<Record<string, string>>
  readonly die?: 'before-write' | 'after-write' | null
}

export interface StreamAnswer {
  readonly died: boolean
  readonly error: { readonly condition: string | null; readonly sentence: string } | null
}

/** Rows of texts, null for null. */
export type TextRow = readonly (string | null)[]
export type RowsByVersion = Readonly<Record<string, readonly TextRow[]>>

export interface Condition {
  readonly spark: string
  readonly deltaRs: string | null
}

export interface ConditionAnswer {
  readonly spark: number
  /** Files that Spark read for it. */
  readonly files: number
  readonly deltaRs: number | null
}

export class SparkWorker {
  readonly #child: ChildProcessByStdio<Writable, Readable, Readable>
  readonly #waiting = new Map<number, { resolve(answer: unknown): void; reject(error: Error): void }>()
  #lastId = 0
  #noise = ''

  constructor(spark: FetchedSpark) {
    const program = fileURLToPath(new URL('worker.py', import.meta.url))
    const env = { ...process.env, PYSPARK_PYTHON: spark.python, PYTHONDONTWRITEBYTECODE: '1' }
    this.#child = spawn(spark.python, [program, spark.jars], { stdio: ['pipe', 'pipe', 'pipe'], detached: true, env })
    this.#child.stderr.on('data', (bytes: Buffer) => {
      this.#noise = `${this.#noise}${bytes.toString('utf8')}`.slice(-4000)
    })
    createInterface({ input: this.#child.stdout }).on('line', (line) => this.#answered(line))
    this.#child.on('error', (error) => this.#failAll(error))
    this.#child.on('close', (code, signal) => this.#failAll(new Error(`the Spark process ended (${signal ?? code}):\n${this.#noise}`)))
    // A write after its end is told by `close`.
    this.#child.stdin.on('error', () => {})
  }

  /** Waits for the session. */
  versions(): Promise<{ readonly spark: string; readonly deltaRs: string }> {
    return this.#ask('versions', {})
  }

  stream(command: StreamCommand): Promise<StreamAnswer> {
    return this.#ask('stream', { ...command })
  }

  read(path: string, versions: readonly number[]): Promise<RowsByVersion> {
    return this.#ask('read', { path, versions })
  }

  readDeltaRs(path: string, versions: readonly number[]): Promise<RowsByVersion> {
    return this.#ask('read_delta_rs', { path, versions })
  }

  countWhere(path: string, conditions: readonly Condition[]): Promise<readonly ConditionAnswer[]> {
    return this.#ask('count_where', { path, conditions })
  }

  /** @param statement with the table in it as `{table}` */
  sql(path: string, statement: string): Promise<readonly TextRow[]> {
    return this.#ask('sql', { path, statement })
  }

  history(path: string): Promise<readonly { readonly version: number; readonly operation: string }[]> {
    return this.#ask('history', { path })
  }

  /** Ends Python, the JVM and whatever they started. */
  async stop(): Promise<void> {
    const { pid } = this.#child
    if (pid === undefined || this.#child.exitCode !== null || this.#child.signalCode !== null) return
    const closed = new Promise<void>((resolve) => this.#child.once('close', () => resolve()))
    process.kill(-pid, 'SIGKILL')
    await closed
  }

  #ask<T>(what: string, command: object): Promise<T> {
    const id = ++this.#lastId
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve: (answer) => resolve(answer as T), reject })
      this.#child.stdin.write(`${JSON.stringify({ ...command, id, do: what })}\n`)
    })
  }

  #answered(line: string): void {
    const { id, answer, failed } = JSON.parse(line) as { id: number; answer?: unknown; failed?: string }
    const waiting = this.#waiting.get(id)
    this.#waiting.delete(id)
    if (failed !== undefined) waiting?.reject(new Error(failed))
    else waiting?.resolve(answer)
  }

  #failAll(error: Error): void {
    for (const { reject } of this.#waiting.values()) reject(error)
    this.#waiting.clear()
  }
}
