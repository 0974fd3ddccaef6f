/**
 * A version that belongs to a joint commit says so in its `commitInfo`: the versions of all its tables share one `txnId`, and
 * `streamtop.together` names the tables. Delta and other readers pass over it.
 */
import type { VersionActions } from './actions.js'
import { formatVersion, parseVersion } from './version-text.js'

/** A table of a joint commit. */
export interface JointTable {
  readonly name: string
  /** Its `metaData.id`. */
  readonly id: string
}

export interface Joint {
  readonly id: string
  readonly tables: readonly JointTable[]
}

/** The joint commit that a version belongs to; null for a version that was written alone. */
export function jointOf({ commitInfo }: Pick<VersionActions, 'commitInfo'>): Joint | null {
  const together = (commitInfo?.streamtop as { readonly together?: unknown } | null | undefined)?.together
  const id = commitInfo?.txnId
  if (!Array.isArray(together) || typeof id !== 'string') return null
  const tables = together.flatMap((entry: unknown): JointTable[] => {
    const { table: name, id: tableId } = (entry ?? {}) as { readonly table?: unknown; readonly id?: unknown }
    return typeof name === 'string' && typeof tableId === 'string' ? [{ name, id: tableId }] : []
  })
  return { id, tables }
}

/** What `commitInfo.streamtop` has of it, the inverse of `jointOf`. */
export function jointJson(joint: Joint): Record<string, unknown> {
  return { together: joint.tables.map(({ name, id }) => ({ table: name, id })) }
}

/** The text of a write that was to make its table, for a table that another writer has made first. */
export function textWithoutShape(text: string, where: string): string {
  return formatVersion({ ...parseVersion(text, where), metadata: null, protocol: null })
}
