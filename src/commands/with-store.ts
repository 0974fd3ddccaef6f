/** The store of a workspace that one table is to be changed in, once it is known that both may be. */
import type { Store } from '../store/store.js'
import type { Context } from './verb.js'

/** @throws bad-name, foreign-workspace, and what opening the store or the work throws; the store is closed then too */
export async function withStore<T>(
  { workspace, adopt, fx }: Pick<Context, 'workspace' | 'adopt' | 'fx'>,
  table: string,
  work: (store: Store) => T | Promise<T>,
): Promise<T> {
  const { checkForeign, checkTableMayBeThere } = await import('../engine/workspace.js')
  const { checkName } = await import('../names.js')
  const { Store } = await import('../store/store.js')
  checkName('table', table)
  checkForeign(workspace, adopt, fx)
  checkTableMayBeThere(workspace, table, fx)
  const store = Store.open(workspace, fx)
  try {
    return await work(store)
  } finally {
    store.close()
  }
}
