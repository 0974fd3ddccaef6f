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
 * @param signal fires when nobody waits for it any more: the thread is ended, whatever it does
 */
export async function openProgramSession(
  options: SessionOptions,
  { runner, onOutput = () => {}, signal }: { readonly runner?: Runner<NamedQuery>; readonly onOutput?: (text: string) => void; readonly signal?: AbortSignal },
  fx: Effects,
): Promise<ProgramSession> {
  const { kafka = null, topic = null } = options
  const reader = startWorkspaceThread({ onOutput }, fx)
  const giveUp = () => void reader.close()
  signal?.addEventListener('abort', giveUp)
  try {
    return { reader, session: await openSession(options, reader, (configFile) => runner ?? processRunner({ configFile, kafka, topic }, fx), fx) }
  } finally {
    signal?.removeEventListener('abort', giveUp)
  }
}
