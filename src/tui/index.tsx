/**
 * `streamtop/tui`: the dashboard as a component for a program that draws with Ink.
 *
 * Set NODE_ENV=production before React is loaded: its development build keeps a measurement of every component for ever.
 */
import { useApp } from 'ink'
import { resolve } from 'node:path'
import { realEffects } from '../effects.js'
import type { QueryDefinition } from '../engine/definition.js'
import type { NamedQuery, Runner } from '../engine/runner.js'
import { InkScreen } from './ink-screen.js'
import type { ProgramSession } from './program.js'

export { processRunner } from '../engine/process-runner.js'
export type { NamedQuery, QueryDefinition, Runner }
export type { Ending, RunningQuery, RunRequest } from '../engine/runner.js'

export interface DashboardProps {
  /** The folder of tables/, checkpoints/ and topics.db. */
  readonly workspace: string
  /** Who runs the queries, by their names; each runs in a process of its own unless given. */
  readonly runner?: Runner<NamedQuery>
  /** Own queries; streamtop.config.{mjs,js} in the workspace unless given. */
  readonly configFile?: string
  /** Run nothing, change nothing. */
  readonly readOnly?: boolean
  /** `slowest`, `slower`, `slow`, `brisk`, `fast`, `full`. */
  readonly pace?: string
  /** `default`, `mono`, `high-contrast`, `dark`, `light`. */
  readonly theme?: string
  /** Draw with ASCII alone. */
  readonly ascii?: boolean
  /** Cells and rows; those of the terminal, without its last row, unless given. */
  readonly columns?: number
  readonly rows?: number
  /** The user has quit, and every query has ended; or it could not go on. Without it the Ink program around it exits. */
  readonly onExit?: (error?: Error) => void
}

/** The dashboard of a workspace. Its queries run while it is mounted; when it is unmounted they are stopped at a clean place. */
export function Dashboard(props: DashboardProps) {
  const { exit } = useApp()
  const { workspace, runner, configFile, readOnly, pace, theme, ascii, columns, rows, onExit = exit } = props
  const open = async (signal: AbortSignal): Promise<ProgramSession> => {
    const { openProgramSession } = await import('./open-program-session.js')
    const options = {
      ...{ workspace: resolve(workspace), configFile: configFile === undefined ? null : resolve(configFile), isReadOnly: readOnly ?? false, adopt: false },
      ...(pace === undefined ? {} : { pace }),
    }
    return openProgramSession(options, runner === undefined ? { signal } : { runner, signal }, realEffects)
  }
  const onEnd = (error: unknown) => onExit(error === undefined ? undefined : error instanceof Error ? error : new Error(String(error)))
  return <InkScreen open={open} theme={theme ?? null} isAscii={ascii ?? false} columns={columns ?? null} rows={rows ?? null} onEnd={onEnd} fx={realEffects} />
}
