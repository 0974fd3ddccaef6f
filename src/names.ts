/**
 * Which names may stand for a query, a table or a topic. A name becomes a folder, a lock file and a word on a screen, so it is
 * kept to characters that mean the same in all three, and can never lead out of the workspace.
 */
import { StreamtopError } from './errors.js'
import { safeText } from './safe-text.js'

export type NameKind = 'query' | 'table' | 'topic'

/**
 * Gives the name back when it may be used.
 * @throws bad-name, saying which characters a name may have
 */
export function checkName(kind: NameKind, name: string): string {
  if (kind === 'table' && DATABASE.test(name)) {
    throw new StreamtopError('bad-name', `"${safeText(name, 60)}" cannot be the name of a table`, {
      hint: 'names that begin with "_log.db" or "_counts.db" are those of files that lie beside the tables',
    })
  }
  if (NAME.test(name) && !name.includes('..')) return name
  throw new StreamtopError('bad-name', `"${safeText(name, 60)}" cannot be the name of a ${kind}`, {
    hint: 'use 1 to 128 letters, digits, "_", "-" and ".", beginning with a letter, a digit or "_", and never ".."',
  })
}

const NAME = /^[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}$/
/** SQLite takes a folder of such a name for a journal of its own, and opens the database no more; some disks ignore case. */
const DATABASE = /^_(log|counts)\.db/i
