/**
 * `offsets/N`: where batch N ends, written before it runs. Version 1 is written byte for byte as Spark writes it (`v1`, the
 * metadata, a line for each source, no newline at the end; formats page §1.3); versions 1 and 2 are read (§1.4).
 */
import { type CheckpointConf, nextConf } from './checkpoint-conf.js'
import { damagedFile, jsonObject, logLines, logVersion } from './damaged-file.js'

export interface OffsetsFile {
  readonly version: number
  /** The event-time watermark in force, milliseconds since the epoch; 0 when there is none. */
  readonly watermarkMs: number
  /** The batch's own time, milliseconds since the epoch; the same when it is run again. */
  readonly timestampMs: number
  /** Empty when the file has none. */
  readonly conf: CheckpointConf
  /** Each source's end as it stands there, in the order of the sources; null for `-`, a source without an offset yet. */
  readonly sources: ReadonlyArray<string | null>
}

/** The text of a version 1 file. */
export function formatOffsets(offsets: Omit<OffsetsFile, 'version'>): string {
  const metadata = { batchWatermarkMs: offsets.watermarkMs, batchTimestampMs: offsets.timestampMs, conf: nextConf(offsets.conf) }
  return ['v1', JSON.stringify(metadata), ...offsets.sources.map((source) => source ?? '-')].join('\n')
}

/**
 * What a file says. One newline at its end and unknown keys are passed over, missing keys have Spark's defaults.
 * @param path names the file in an error
 * @throws checkpoint-damaged
 */
export function parseOffsets(text: string, path: string): OffsetsFile {
  const safe = 'without one, remove it only when no table holds its batch ("streamtop history" says which are held): then the batch is planned again'
  const [first, second, ...rest] = logLines(text)
  if (first === undefined) throw damagedFile(path, 'is empty: the range of its batch is lost', { safe })
  const version = logVersion(first, NEWEST_VERSION, path)
  if (second === undefined) throw damagedFile(path, 'ends after its version: the range of its batch is lost', { safe })
  if (second.trim() === '') throw damagedFile(path, 'has a blank line where its metadata should be', { safe })
  const metadata = jsonObject(second, path, 'second line')
  if (rest.length === 0) throw damagedFile(path, 'has no line for a source: the range of its batch is lost', { safe })
  return {
    version,
    watermarkMs: milliseconds(metadata['batchWatermarkMs'], 'batchWatermarkMs', path),
    timestampMs: milliseconds(metadata['batchTimestampMs'], 'batchTimestampMs', path),
    conf: parseConf(metadata['conf'], path),
    sources: rest.map((line) => parseSource(version === 1 ? line : withoutSourceId(line, path), path)),
  }
}

const NEWEST_VERSION = 2

function milliseconds(value: unknown, name: string, path: string): number {
  if (value === undefined) return 0
  if (typeof value === 'number' && Number.isSafeInteger(value)) return value
  throw damagedFile(path, `has a ${name} that is not a whole number`)
}

function parseConf(value: unknown, path: string): CheckpointConf {
  if (value === undefined) return {}
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw damagedFile(path, 'has a conf that is not a JSON object')
  return Object.fromEntries(Object.entries(value).map(([key, setting]) => [key, typeof setting === 'string' ? setting : JSON.stringify(setting)]))
}

/** In version 2 a line is `<source id>:<offset>`. */
function withoutSourceId(line: string, path: string): string {
  const colon = line.indexOf(':')
  if (colon < 0) throw damagedFile(path, 'has a source line without the id of its source')
  return line.slice(colon + 1)
}

function parseSource(line: string, path: string): string | null {
  if (line === '-') return null
  if (line === '') throw damagedFile(path, 'has a blank line, which counts as one more source')
  // Any text may be an offset to its source, but what begins as an object and does not end as one was cut off.
  if (line.startsWith('{')) jsonObject(line, path, 'source line', line.includes('"sourceVersion"') ? 'DELTA_INVALID_SOURCE_OFFSET_FORMAT' : undefined)
  return line
}
