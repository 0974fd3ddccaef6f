/**
 * Where a batch ends in a table, in the JSON of Delta's source (formats page §4.1). An offset says "everything up to and
 * including file `index` of `version`"; a stream that has read version v whole stands at (v+1, -1).
 */
import { StreamtopError } from '../errors.js'
import { damagedFile } from './damaged-file.js'

export interface TableOffset {
  /** The source table's `metaData.id`. */
  readonly tableId: string
  readonly version: number
  /** The last file taken of that version, counted from 0; `BASE_INDEX` when none is. */
  readonly index: number
  /** True while the stream is inside the snapshot that it began with. */
  readonly isInitialSnapshot: boolean
}

/** Before the first file of a version. Delta has another number in memory and writes this one. */
export const BASE_INDEX = -1

/** The start of a version: nothing of it is read yet. */
export function startOfVersion(tableId: string, version: number): TableOffset {
  return { tableId, version, index: BASE_INDEX, isInitialSnapshot: false }
}

/** The line as Delta writes it: these fields in this order. */
export function formatTableOffset(offset: TableOffset): string {
  return JSON.stringify({
    sourceVersion: 1,
    reservoirId: offset.tableId,
    reservoirVersion: offset.version,
    index: offset.index,
    isStartingVersion: offset.isInitialSnapshot,
  })
}

/**
 * The offset that a line says.
 * @param path names the file in an error
 * @throws checkpoint-damaged with Delta's condition; unsupported-feature for an offset of schema tracking
 */
export function parseTableOffset(line: string, path: string): TableOffset {
  const json = parseObject(line)
  if (json === null) throw damagedFile(path, 'does not hold the offset of a table in its source line', { condition: 'DELTA_INVALID_SOURCE_OFFSET_FORMAT' })
  const { reservoirId, reservoirVersion, index, isStartingVersion } = json
  const sourceVersion = checkSourceVersion(json['sourceVersion'], path)
  if (typeof reservoirId !== 'string' || !isWhole(reservoirVersion) || reservoirVersion < 0 || !isWhole(index) || typeof isStartingVersion !== 'boolean') {
    throw damagedFile(path, 'holds an incomplete offset of a table', { condition: 'DELTA_INVALID_SOURCE_OFFSET_FORMAT' })
  }
  if (sourceVersion === SCHEMA_TRACKING_VERSION && index < 0) {
    throw new StreamtopError('unsupported-feature', `${path} stands at a change of the source's schema, which streamtop does not track`, {
      hint: 'go on with the Spark query that made this checkpoint (it has a schemaTrackingLocation)',
    })
  }
  if (index < BASE_INDEX) throw damagedFile(path, `holds file number ${index}`, { condition: 'DELTA_INVALID_SOURCE_OFFSET_FORMAT' })
  return { tableId: reservoirId, version: reservoirVersion, index, isInitialSnapshot: isStartingVersion }
}

/** Negative, zero or positive as `a` is before, at or behind `b`. Both must be of one table. */
export function compareTableOffsets(a: TableOffset, b: TableOffset): number {
  if (a.tableId !== b.tableId) throw new StreamtopError('internal', `offsets of two tables (${a.tableId}, ${b.tableId}) cannot be compared`)
  return a.version - b.version || a.index - b.index
}

const SCHEMA_TRACKING_VERSION = 3

/** 1 and 3 are in use, 2 is reserved. */
function checkSourceVersion(value: unknown, path: string): number {
  if (value === undefined) throw damagedFile(path, 'holds the offset of a table without its sourceVersion', { condition: 'DELTA_INVALID_SOURCE_OFFSET_FORMAT' })
  if (!isWhole(value) || value < 1 || value === 2) {
    throw damagedFile(path, `holds the offset of a table with sourceVersion ${JSON.stringify(value)}`, { condition: 'DELTA_INVALID_SOURCE_VERSION' })
  }
  if (value <= SCHEMA_TRACKING_VERSION) return value
  throw damagedFile(path, `holds the offset of a table with sourceVersion ${value}; ${SCHEMA_TRACKING_VERSION} is the newest that can be read`, {
    safe: 'or run this query with the newer Delta that wrote it',
    condition: 'DELTA_INVALID_FORMAT_FROM_SOURCE_VERSION',
  })
}

function isWhole(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value)
}

function parseObject(line: string): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(line)
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : null
  } catch {
    return null
  }
}
