/**
 * What a SQLite database with a write-ahead log holds, as the bytes of one file: the database's pages with those of every
 * committed transaction of the WAL laid over them (SQLite file format, "The Write-Ahead Log"). Pure; it is for readers that must
 * not leave a file behind, as SQLite itself does when it opens such a database.
 */

/**
 * The image.
 * @param database the bytes of the database file; they may become a part of the image
 * @param wal the bytes of the file beside it, or null when there is none
 */
export function databaseImage(database: Buffer, wal: Buffer | null): Buffer {
  const pages = wal === null ? null : committedPages(wal)
  let image: Buffer
  if (pages === null) image = database
  else {
    image = Buffer.alloc(pages.databasePages * pages.pageSize)
    database.copy(image, 0, 0, Math.min(database.length, image.length))
    for (const [page, bytes] of pages.byNumber) bytes.copy(image, (page - 1) * pages.pageSize)
  }
  // Bytes 18 and 19 say "WAL" with 2; in memory there is none.
  if (image.length > 19) image[18] = image[19] = 1
  return image
}

interface CommittedPages {
  readonly pageSize: number
  /** How long the database is after the last commit. */
  readonly databasePages: number
  readonly byNumber: ReadonlyMap<number, Buffer>
}

const HEADER_BYTES = 32
const FRAME_HEADER_BYTES = 24
/** The last bit says in which order of bytes the checksums are computed. */
const MAGIC = 0x377f0682

/** Frames count up to the last commit before the first whose salt or checksum does not fit: what follows is from an earlier use of the file. */
function committedPages(wal: Buffer): CommittedPages | null {
  if (wal.length < HEADER_BYTES || (wal.readUInt32BE(0) & 0xfffffffe) >>> 0 !== MAGIC) return null
  const isBigEndian = (wal.readUInt32BE(0) & 1) === 1
  const pageSize = wal.readUInt32BE(8)
  const checksum = new Uint32Array(2)
  addToChecksum(checksum, wal.subarray(0, 24), isBigEndian)
  if (checksum[0] !== wal.readUInt32BE(24) || checksum[1] !== wal.readUInt32BE(28)) return null

  const committed = new Map<number, Buffer>()
  let pending: [number, Buffer][] = []
  let databasePages = 0
  for (let at = HEADER_BYTES; at + FRAME_HEADER_BYTES + pageSize <= wal.length; at += FRAME_HEADER_BYTES + pageSize) {
    if (wal.compare(wal, 16, 24, at + 8, at + 16) !== 0) break
    const bytes = wal.subarray(at + FRAME_HEADER_BYTES, at + FRAME_HEADER_BYTES + pageSize)
    addToChecksum(checksum, wal.subarray(at, at + 8), isBigEndian)
    addToChecksum(checksum, bytes, isBigEndian)
    if (checksum[0] !== wal.readUInt32BE(at + 16) || checksum[1] !== wal.readUInt32BE(at + 20)) break
    pending.push([wal.readUInt32BE(at), bytes])
    const pagesAfterCommit = wal.readUInt32BE(at + 4)
    if (pagesAfterCommit === 0) continue
    databasePages = pagesAfterCommit
    for (const [page, content] of pending) committed.set(page, content)
    pending = []
  }
  if (databasePages === 0) return null
  for (const page of committed.keys()) if (page > databasePages) committed.delete(page)
  return { pageSize, databasePages, byNumber: committed }
}

function addToChecksum(checksum: Uint32Array, bytes: Buffer, isBigEndian: boolean): void {
  let first = checksum[0] as number
  let second = checksum[1] as number
  for (let at = 0; at < bytes.length; at += 8) {
    first = (first + (isBigEndian ? bytes.readUInt32BE(at) : bytes.readUInt32LE(at)) + second) >>> 0
    second = (second + (isBigEndian ? bytes.readUInt32BE(at + 4) : bytes.readUInt32LE(at + 4)) + first) >>> 0
  }
  checksum[0] = first
  checksum[1] = second
}
