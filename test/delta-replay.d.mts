/** What the tests take of the checker's replay of a `_delta_log`. */
export interface ReplayedAction {
  readonly add?: { readonly path: string }
  readonly remove?: { readonly path: string }
  readonly metaData?: { readonly id: string }
}

export function replayTable(folder: string): { readonly versions: readonly { readonly version: number; readonly actions: readonly ReplayedAction[] }[] }
