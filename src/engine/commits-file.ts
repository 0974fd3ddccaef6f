/**
 * `commits/N`: batch N is done, written after its sink returned (formats page §1.5). Version 1 is written byte for byte as
 * Spark writes it; versions 1 to 3 are read.
 */
import { damagedFile, jsonObject, logLines, logVersion } from './damaged-file.js'

export interface CommitsFile {
  readonly version: number
  /** The watermark that batch N+1 will have, milliseconds since the epoch. */
  readonly nextWatermarkMs: number
}

/** The text of a version 1 file. */
export function formatCommit(nextWatermarkMs: number): string {
  return `v1\n${JSON.stringify({ nextBatchWatermarkMs: nextWatermarkMs })}`
}

/**
 * What a file says. Its second line may be missing, as Spark 2 left it.
 * @throws checkpoint-damaged
 */
export function parseCommit(text: string, path: string): CommitsFile {
  const safe = 'or remove it, after which its batch is run again: safe where the sink knows the batch, a duplicate where it appends plainly'
  const [first, second] = logLines(text)
  if (first === undefined) throw damagedFile(path, 'is empty: whether its batch is done is not known', { safe })
  const version = logVersion(first, NEWEST_VERSION, path)
  const watermark = second === undefined ? 0 : (jsonObject(second, path, 'second line')['nextBatchWatermarkMs'] ?? 0)
  if (typeof watermark !== 'number' || !Number.isSafeInteger(watermark))
    throw damagedFile(path, 'has a nextBatchWatermarkMs that is not a whole number', { safe })
  return { version, nextWatermarkMs: watermark }
}

const NEWEST_VERSION = 3
