/**
 * The checksum of a version's text: a bit that flips in JSON, or a line that is cut away, can leave other actions that read well. So a
 * text of streamtop's says its own CRC-32, as the last thing in `commitInfo`, which is its first line; it is made over the whole text
 * with eight zeros in place of the value. Texts of other writers have none. Pure.
 */
import { crc32 } from 'node:zlib'
import { StreamtopError } from '../errors.js'

/** What `commitInfo` ends with until the text is whole. */
export const TEXT_CHECKSUM_TO_COME = { textCrc32: '00000000' } as const

const TO_COME = TEXT_CHECKSUM_TO_COME.textCrc32
const VALUE = /(?<="textCrc32":")[\da-f]{8}(?="\}\}$)/

/** Puts the checksum into a new text whose first line ends with `TEXT_CHECKSUM_TO_COME`; any other text is given back as it is. */
export function sealText(text: string): string {
  const at = placeIn(text)
  return at === null ? text : text.slice(0, at) + checksumOf(text, at) + text.slice(at + TO_COME.length)
}

/**
 * That a text is what was written, as far as it says so.
 * @param where names the file in an error
 * @throws table-damaged
 */
export function checkText(text: string, where: string): void {
  const at = placeIn(text)
  if (at === null || text.slice(at, at + TO_COME.length) === checksumOf(text, at)) return
  throw new StreamtopError('table-damaged', `${where} is not what was committed: its checksum does not fit`, {
    hint: 'restore the file from a copy; of _log.db, deleting it builds it again from the _delta_log of each table',
  })
}

function placeIn(text: string): number | null {
  const end = text.indexOf('\n')
  // A text that was cut behind its first line has no newline any more, and still says what it was.
  return VALUE.exec(end < 0 ? text : text.slice(0, end))?.index ?? null
}

function checksumOf(text: string, at: number): string {
  const before = crc32(TO_COME, crc32(text.slice(0, at)))
  return crc32(text.slice(at + TO_COME.length), before)
    .toString(16)
    .padStart(TO_COME.length, '0')
}
