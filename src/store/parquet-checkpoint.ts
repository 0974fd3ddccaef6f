/**
 * The rows of a table checkpoint's Parquet file as the objects that a version's JSON has. Rows are nested (structs, maps, lists), and
 * the file is read where a log is opened, which does not wait: so the decoder is loaded and asked synchronously, at the first table
 * that begins with a checkpoint, and its arrays are read where it leaves them (Arrow's C data interface).
 */
import { createRequire } from 'node:module'
import { StreamtopError } from '../errors.js'
import { withoutArrowSchema } from './parquet-footer.js'
import type { ActionObject } from './version-text.js'

/**
 * The rows of a Parquet file as objects: null fields are left out, a map is an object. Whole numbers past 2^53 become the nearest number, as JSON's do.
 * Only the named columns of the top level are read.
 * @throws table-damaged when the file cannot be read
 */
export function readCheckpointRows(bytes: Uint8Array, names: readonly string[]): ActionObject[] {
  const wasm = createRequire(import.meta.url)('parquet-wasm') as typeof import('parquet-wasm')
  let stream: import('parquet-wasm').FFIStream
  try {
    stream = wasm.readParquet(withoutArrowSchema(bytes), { columns: [...names], batchSize: ROWS_PER_BATCH }).intoFFI()
  } catch (cause) {
    if (cause instanceof StreamtopError) throw cause
    throw new StreamtopError('table-damaged', `a table checkpoint cannot be read: ${cause instanceof Error ? cause.message : String(cause)}`, { cause })
  }
  try {
    const [schema, batches] = [stream.schemaAddr(), [...stream.arrayAddrs()]]
    // Taken last: the memory may be another one after a call into the decoder.
    const memory = new DataView((wasm.wasmMemory() as { readonly buffer: ArrayBuffer }).buffer)
    const rows: ActionObject[] = []
    for (const batch of batches) {
      const root = openArray(memory, schema, batch)
      const read = readerOf(memory, root)
      for (let row = 0; row < root.length; row++) rows.push((read?.(row) ?? {}) as ActionObject)
    }
    return rows
  } finally {
    stream.free()
  }
}

const ROWS_PER_BATCH = 65_536

/** `struct ArrowSchema` and `struct ArrowArray` of one column, on a machine with 32-bit pointers. */
interface ArrowArray {
  /** Arrow's letters for the type. */
  readonly format: string
  readonly name: string
  readonly length: number
  readonly offset: number
  /** Where its buffers begin; 0 for one that is not there. */
  readonly buffers: readonly number[]
  readonly children: readonly ArrowArray[]
}

function openArray(memory: DataView, schema: number, array: number): ArrowArray {
  const childCount = Number(memory.getBigInt64(schema + 24, true))
  const [schemas, children, buffers] = [memory.getUint32(schema + 32, true), memory.getUint32(array + 44, true), memory.getUint32(array + 40, true)]
  return {
    format: textAt(memory, memory.getUint32(schema, true)),
    name: textAt(memory, memory.getUint32(schema + 4, true)),
    length: Number(memory.getBigInt64(array, true)),
    offset: Number(memory.getBigInt64(array + 16, true)),
    buffers: Array.from({ length: Number(memory.getBigInt64(array + 24, true)) }, (_, i) => memory.getUint32(buffers + i * 4, true)),
    children: Array.from({ length: childCount }, (_, i) =>
      openArray(memory, memory.getUint32(schemas + i * 4, true), memory.getUint32(children + i * 4, true)),
    ),
  }
}

type Read = (row: number) => unknown

/** What reads a value of an array by its row; null for a type that no action has. Null values are undefined. */
function readerOf(memory: DataView, array: ArrowArray): Read | null {
  const read = valueReaderOf(memory, array)
  const validity = array.buffers[0] ?? 0
  if (read === null) return null
  return (row) => {
    const at = row + array.offset
    return validity !== 0 && ((memory.getUint8(validity + (at >> 3)) >> (at & 7)) & 1) === 0 ? undefined : read(at)
  }
}

/** Takes the row with the array's offset in it. */
function valueReaderOf(memory: DataView, array: ArrowArray): Read | null {
  const [, first = 0, second = 0] = array.buffers
  switch (array.format) {
    case 'b':
      return (at) => ((memory.getUint8(first + (at >> 3)) >> (at & 7)) & 1) === 1
    case 'i':
      return (at) => memory.getInt32(first + at * 4, true)
    case 'l':
      return (at) => Number(memory.getBigInt64(first + at * 8, true))
    case 'u':
      return (at) => Buffer.from(memory.buffer, second + memory.getInt32(first + at * 4, true), lengthAt(memory, first, at)).toString('utf8')
    case '+s':
      return structReader(memory, array)
    case '+l': {
      const element = array.children[0] ? readerOf(memory, array.children[0]) : null
      return element && ((at) => itemsAt(memory, first, at).map(element))
    }
    case '+m': {
      const [key, value] = (array.children[0]?.children ?? []).map((child) => readerOf(memory, child))
      return key && value ? (at) => Object.fromEntries(itemsAt(memory, first, at).map((item) => [key(item), value(item) ?? null])) : null
    }
    default:
      return null
  }
}

function structReader(memory: DataView, array: ArrowArray): Read {
  const fields = array.children.flatMap((child) => {
    const read = readerOf(memory, child)
    return read ? [{ name: child.name, read }] : []
  })
  return (at) => {
    const object: Record<string, unknown> = {}
    for (const { name, read } of fields) {
      const value = read(at)
      if (value !== undefined) object[name] = value
    }
    return object
  }
}

/** The places of a list's items, or a map's entries, in its child. */
function itemsAt(memory: DataView, offsets: number, at: number): number[] {
  const start = memory.getInt32(offsets + at * 4, true)
  return Array.from({ length: lengthAt(memory, offsets, at) }, (_, i) => start + i)
}

function lengthAt(memory: DataView, offsets: number, at: number): number {
  return memory.getInt32(offsets + at * 4 + 4, true) - memory.getInt32(offsets + at * 4, true)
}

/** A text that ends with a zero byte. */
function textAt(memory: DataView, start: number): string {
  let end = start
  while (memory.getUint8(end) !== 0) end++
  return Buffer.from(memory.buffer, start, end - start).toString('utf8')
}
