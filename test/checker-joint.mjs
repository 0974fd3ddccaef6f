/** The checker's look at commits over several tables. Part of the checker, so it shares nothing with src. */

/**
 * The parts of a commit over several tables share a txnId and name each other: all are there or none, in the log at any time, on disk
 * once somebody has healed what a death left. And then nothing is prepared any more.
 */
export function checkJoint(look, { queries }) {
  const { tables, database, violations } = look
  const logged = new Map(
    database
      .prepare("SELECT name FROM tables WHERE state = 'live'")
      .pluck()
      .all()
      .map((name) => [name, { versions: loggedVersions(database, name) }]),
  )
  checkParts(look, '_log.db', logged)
  if (queries.some(({ isUnhealed }) => isUnhealed)) return
  checkParts(look, '_delta_log', tables)
  const prepared = database.prepare('SELECT table_name AS name, version FROM prepared').all()
  for (const { name, version } of prepared) violations.push(`version ${version} of ${name} is still prepared in _log.db`)
}

function loggedVersions(database, name) {
  return database
    .prepare("SELECT version, text FROM versions JOIN tables USING (table_key) WHERE name = ? AND state = 'live' ORDER BY version")
    .all(name)
    .map(({ version, text }) => ({
      version,
      actions: text
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line)),
    }))
}

function checkParts({ database, violations }, where, tables) {
  const isDropped = database.prepare("SELECT 1 FROM tables WHERE table_id = ? AND state <> 'live'").pluck()
  const parts = new Set()
  const joint = []
  for (const [name, { versions }] of tables) {
    for (const { version, actions } of versions) {
      const info = actions.find(({ commitInfo }) => commitInfo)?.commitInfo
      const together = info?.streamtop?.together
      if (!Array.isArray(together)) continue
      parts.add(`${info.txnId} ${name}`)
      joint.push({ name, version, txnId: info.txnId, together })
    }
  }
  for (const { name, version, txnId, together } of joint) {
    if (!together.some(({ table }) => table === name)) violations.push(`version ${version} of ${name} does not name itself among the tables of its commit`)
    for (const { table, id } of together)
      if (!parts.has(`${txnId} ${table}`) && isDropped.get(id) === undefined)
        violations.push(`version ${version} of ${name} was committed together with ${table}, which has no part of it in ${where}`)
  }
}
