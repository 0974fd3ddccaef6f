/** A bug of the protocol: what it stands for, and the texts that make it. */
export interface PlantedBug {
  readonly name: string
  readonly stands: string
  readonly edits: readonly { readonly file: string; readonly find: string; readonly replace: string }[]
  readonly findBy?: 'power loss'
}

export const PLANTED_BUGS: readonly PlantedBug[]

export function planted(bug: PlantedBug): ReadonlyMap<string, string>
