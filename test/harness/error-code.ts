/** The code of the error that a command with `--json` ended with: null when it ended as asked, a text that is no code when it said none. */
export function errorCodeOf({
  exitCode,
  stdout,
  stderr,
}: {
  readonly exitCode: number | null
  readonly stdout: string
  readonly stderr: string
}): string | null {
  if (exitCode === 0) return null
  const error = stderr.split('\n').find((line) => line.startsWith('{"error"'))
  if (error !== undefined) return (JSON.parse(error) as { error: { code: string } }).error.code
  // A run says it of each of its queries, in its report.
  const report = stdout.startsWith('{"queries"') ? (JSON.parse(stdout) as { queries: { error?: { code: string } | null }[] }) : { queries: [] }
  return report.queries.find((query) => query.error)?.error?.code ?? `exit ${exitCode}: ${stderr}`
}
