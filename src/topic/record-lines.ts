/**
 * Lines of a file as records: `key<TAB>value`, split at the first tab, or a value alone, which has no key. What stands in a line
 * is not looked at. A line ends with a line feed, a carriage return before it belongs to the end; empty lines are no records.
 * Memory holds one group of records, however long the file is. What has come is not held back while nothing more comes.
 */
import type { Effects } from '../effects.js'
import { StreamtopError } from '../errors.js'
import type { OutgoingRecord } from './topic.js'

/**
 * The records of the bytes, in groups of a size that one call of `send` takes.
 *
 * Errors: `bad-value` for a line over 64 MiB, after everything before it was given out.
 */
export async function* recordLines(chunks: AsyncIterable<Uint8Array>, fx: Pick<Effects, 'sleep'>): AsyncGenerator<OutgoingRecord[]> {
  let group: OutgoingRecord[] = []
  let groupBytes = 0
  let lineNumber = 0
  for await (const line of linesOf(withPauses(chunks, fx))) {
    if (line === PAUSE) {
      if (group.length > 0) yield group
      group = []
      groupBytes = 0
      continue
    }
    lineNumber += 1
    if (line === null) {
      if (group.length > 0) yield group
      throw new StreamtopError('bad-value', `line ${lineNumber} is over ${LARGEST_LINE_BYTES} bytes`, { hint: 'is this a file of lines?' })
    }
    const record = recordOf(line)
    if (record === null) continue
    group.push(record)
    groupBytes += line.length
    if (group.length < GROUP_RECORDS && groupBytes < GROUP_BYTES) continue
    yield group
    group = []
    groupBytes = 0
  }
  if (group.length > 0) yield group
}

const GROUP_RECORDS = 5_000
const GROUP_BYTES = 4 * 1024 * 1024
const LARGEST_LINE_BYTES = 64 * 1024 * 1024
const LINE_FEED = 0x0a
const CARRIAGE_RETURN = 0x0d
const TAB = 0x09

/** So long after the last bytes it is a pause. */
const PAUSE_MS = 100
const PAUSE = Symbol('pause')

/** The bytes, and once in each time in which nothing comes that it is a pause: whoever writes a line now and then wants it sent. */
async function* withPauses(chunks: AsyncIterable<Uint8Array>, fx: Pick<Effects, 'sleep'>): AsyncGenerator<Uint8Array | typeof PAUSE> {
  const iterator = chunks[Symbol.asyncIterator]()
  try {
    for (;;) {
      const next = iterator.next()
      const hasCome = new AbortController()
      const late = fx.sleep(PAUSE_MS, hasCome.signal).then(() => true)
      const isLate = await Promise.race([next.then(nothing, nothing), late])
      hasCome.abort()
      if (isLate) yield PAUSE
      const { value, done } = await next
      if (done) return
      yield value
    }
  } finally {
    // Not waited for: it may come only after the bytes that are asked for.
    iterator.return?.().catch(() => {})
  }
}

function nothing(): false {
  return false
}

/** Every line without its line feed; null, as the last one, for a line that is too long. A pause comes between lines as it does between bytes. */
async function* linesOf(chunks: AsyncIterable<Uint8Array | typeof PAUSE>): AsyncGenerator<Uint8Array | typeof PAUSE | null> {
  let pieces: Uint8Array[] = []
  let pieceBytes = 0
  for await (const chunk of chunks) {
    if (chunk === PAUSE) {
      yield PAUSE
      continue
    }
    let start = 0
    for (let end = chunk.indexOf(LINE_FEED); end >= 0; end = chunk.indexOf(LINE_FEED, start)) {
      pieces.push(chunk.subarray(start, end))
      yield pieces.length === 1 ? (pieces[0] as Uint8Array) : Buffer.concat(pieces)
      pieces = []
      pieceBytes = 0
      start = end + 1
    }
    if (start === chunk.length) continue
    pieces.push(chunk.subarray(start))
    pieceBytes += chunk.length - start
    if (pieceBytes > LARGEST_LINE_BYTES) {
      yield null
      return
    }
  }
  if (pieceBytes > 0) yield Buffer.concat(pieces)
}

function recordOf(line: Uint8Array): OutgoingRecord | null {
  const content = line[line.length - 1] === CARRIAGE_RETURN ? line.subarray(0, -1) : line
  if (content.length === 0) return null
  const tab = content.indexOf(TAB)
  return tab < 0 ? { key: null, value: content } : { key: content.subarray(0, tab), value: content.subarray(tab + 1) }
}
