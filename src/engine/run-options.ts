/** How a query is to be run. Plain data: it crosses to a child process as JSON. */
export interface RunOptions {
  /** `KEY=VALUE`, as Spark's `.option` on the source. */
  readonly sourceOptions: readonly string[]
  /** Null: the query's default. */
  readonly appId: string | null
  /** Null: until it is caught up. */
  readonly intervalMs: number | null
  readonly acceptGap: boolean
}
