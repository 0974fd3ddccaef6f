/** A session whose workspace is read in a thread of its own and whose queries run in processes: what the dashboard opens. */
import type { Effects } from '../effects.js'
import { processRunner } from '../engine/process-runner.js'
import type { NamedQuery, Runner } from '../engine/runner.js'
import { openSession, type SessionOptions } from '../session/live-session.js'
import { startWorkspaceThread } from '../session/workspace-client.js'
import type { ProgramSession } from './program.js'

/**
 * @param runner who runs the queries; in processes of their own unless given
 * @param onOutput told what a configuration file prints
 */
export async function openProgramSession(
  options: SessionOptions,
  { runner, onOutput = () => {} }: { readonly runner?: Runner<NamedQuery>; readonly onOutput?: (text: string) => void },
  fx: Effects,
): Promise<ProgramSession> {
  const { kafka = null, topic = null } = options
  const reader = startWorkspaceThread({ onOutput }, fx)
  return { reader, session: await openSession(options, reader, (configFile) => runner ?? processRunner({ configFile, kafka, topic }, fx), fx) }
}
