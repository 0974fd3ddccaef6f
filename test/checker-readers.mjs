/**
 * The checker's look at what readers beside saw: committed versions only, never an older one than before, never half of a commit
 * over several tables. Part of the checker, so it shares nothing with src.
 */

/** @param looks in their order, each with the tables that were seen in it, by name */
export function checkLooks({ tables, memory, violations }, looks) {
  const now = new Map([...tables].map(([name, table]) => [name, { id: idOf(table), ...table }]))
  const joint = partsOf(now)
  for (const look of looks) {
    for (const [name, { id, version, files }] of Object.entries(look)) {
      const before = memory.seen.get(id) ?? -1
      if (version < before) violations.push(`a reader saw version ${version} of ${name} after version ${before}`)
      memory.seen.set(id, Math.max(before, version))
      // A table that was dropped since has no log that could say what was in it.
      const table = now.get(name)
      if (table?.id !== id) continue
      if (version > table.versions.at(-1).version) violations.push(`a reader saw version ${version} of ${name}, which was never committed`)
      else if (filesAt(table.versions, version).join() !== [...files].sort().join())
        violations.push(`a reader saw files in version ${version} of ${name} that are not those of its log`)
    }
    checkParts({ violations, now, joint }, look)
  }
}

/** The versions of commits over several tables, by their txnId. */
function partsOf(tables) {
  const parts = new Map()
  for (const [name, { id, versions }] of tables) {
    for (const { version, actions } of versions) {
      const info = actions.find(({ commitInfo }) => commitInfo)?.commitInfo
      if (Array.isArray(info?.streamtop?.together)) parts.set(info.txnId, [...(parts.get(info.txnId) ?? []), { name, id, version }])
    }
  }
  return parts
}

function checkParts({ violations, now, joint }, look) {
  for (const parts of joint.values()) {
    // Only of tables that are still those which the reader saw can anything be said.
    const known = parts.filter(({ name, id }) => (look[name]?.id ?? id) === id && now.get(name).id === id)
    const isSeen = ({ name, version }) => (look[name]?.version ?? -1) >= version
    const [seen, unseen] = [known.find(isSeen), known.find((part) => !isSeen(part))]
    if (seen && unseen)
      violations.push(`a reader saw version ${seen.version} of ${seen.name} without version ${unseen.version} of ${unseen.name}, its other part`)
  }
}

function idOf({ versions }) {
  return versions.flatMap(({ actions }) => actions).find(({ metaData }) => metaData)?.metaData.id
}

function filesAt(versions, newest) {
  const live = new Set()
  for (const { version, actions } of versions) {
    if (version > newest) break
    for (const { add, remove } of actions) {
      if (remove) live.delete(decodeURIComponent(remove.path))
      if (add) live.add(decodeURIComponent(add.path))
    }
  }
  return [...live].sort()
}
