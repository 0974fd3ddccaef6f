/**
 * What a generator of a Kafka topic remembers: in a workspace, a file for each step, `.generators/<topic id>/<number>`, of which the
 * newest counts. Kafka has no place for it that is written in one with the records, so a step is claimed before its records are
 * sent: a death between the two leaves records out, and never makes one twice.
 */
import { join } from 'node:path'
import type { Effects } from '../effects.js'
import type { MakeRecords, OutgoingRecord } from './topic.js'

/** Claims the next step; whoever else is generating in this workspace gets another. The claim is durable when this returns. */
export function claimRecords(workspace: string, topicId: string, make: MakeRecords, fx: Effects): readonly OutgoingRecord[] {
  const folder = join(workspace, '.generators', topicId)
  fx.files.makeFolder(folder)
  for (;;) {
    const steps = fx.files
      .list(folder)
      .filter((name) => /^[0-9]+$/.test(name))
      .map(Number)
      .sort((a, b) => a - b)
    const newest = steps.at(-1) ?? 0
    const before = newest === 0 ? null : fx.files.readIfPresent(join(folder, String(newest)))
    // Gone meanwhile: somebody claimed the next step and tidied up.
    if (newest !== 0 && before === null) continue
    const { records, state } = make(before?.toString('utf8') ?? null)
    if (fx.files.create(join(folder, String(newest + 1)), state) === 'exists') continue
    for (const step of steps.slice(0, -1)) fx.files.remove(join(folder, String(step)))
    return records
  }
}
