/**
 * Opens a database for a reader that must not write a byte where it lies. SQLite makes `-wal` and `-shm` beside a database in WAL
 * mode even for a read-only connection; so where they are not there already, its content is read into memory instead. Where they are,
 * a reader notes its locks in `-shm`, which is shared memory and holds no data.
 */
import { type Database, openDatabase, openDatabaseImage } from './database.js'
import type { Effects } from './effects.js'
import { databaseImage } from './wal-image.js'

/**
 * The database at a path for reading, or null when there is no such file. Somebody may write to it at the same time: what was
 * committed when it was opened is there.
 * @throws what SQLite says of a file that is no database, at the latest at the first statement
 */
export function openDatabaseToRead(path: string, fx: Effects): Database | null {
  const main = fx.files.status(path)
  if (main === null) return null
  const isShared = fx.files.exists(`${path}-wal`) && fx.files.exists(`${path}-shm`)
  return (isShared || main.size > LARGEST_IMAGE_BYTES ? openInPlace(path) : null) ?? openStableImage(path, fx)
}

/** A larger one is opened where it lies, empty files or not. */
const LARGEST_IMAGE_BYTES = 512 * 1024 * 1024
const TRIES = 5

/** Null when SQLite cannot do without writing: the folder is read-only. */
function openInPlace(path: string): Database | null {
  let database: Database | null = null
  try {
    database = openDatabase(path, { readonly: true })
    database.pragma('user_version')
    return database
  } catch (error) {
    database?.close()
    const code = (error as { readonly code?: unknown }).code
    if (typeof code === 'string' && (code.startsWith('SQLITE_CANTOPEN') || code.startsWith('SQLITE_READONLY'))) return null
    throw error
  }
}

/** A copy counts when neither file changed while it was made. */
function openStableImage(path: string, fx: Effects): Database | null {
  for (let tries = 1; ; tries++) {
    const before = stateOf(path, fx)
    const wal = fx.files.readIfPresent(`${path}-wal`)
    const main = fx.files.readIfPresent(path)
    if (main === null) return null
    if (stateOf(path, fx) === before || tries === TRIES) return openDatabaseImage(databaseImage(main, wal))
  }
}

function stateOf(path: string, fx: Effects): string {
  return JSON.stringify([fx.files.status(path), fx.files.status(`${path}-wal`)])
}
