/** A sentence without what differs from one play to the next, so that a transcript can be compared with another. Pure. */

const BY_THE_SCENARIO = / \(you: scenario\)/g
const DURATION = /, \d+(\.\d+)? ms\b/g
const HOLDER = /process \d+(, for \d+ s now)?/g
const KILL_HINT = /, or stop it with "kill \d+"/g
const PID = /, pid \d+/g
/** As a play on Kafka calls its topic (`stage-topic.ts`). */
const TOPIC_OF_PLAY = /\borders-[0-9a-f]{8}\b/g
const UUID = /\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/g

/** @param workspace the folder that paths are told from */
export function steadyText(text: string, workspace: string): string {
  return text
    .replaceAll(`${workspace}/`, '')
    .replaceAll(workspace, 'the workspace')
    .replace(BY_THE_SCENARIO, '')
    .replace(DURATION, '')
    .replace(HOLDER, 'another process')
    .replace(KILL_HINT, '')
    .replace(PID, '')
    .replace(UUID, '<id>')
    .replace(TOPIC_OF_PLAY, 'orders')
}
