/**
 * A disk as a loss of power may leave it. What was done to it is a list of effects; an effect is durable once the file that it changed,
 * or for an entry of a folder that folder, has been synced after it. Until then it may be there, be missing, or of a write be there in part.
 *
 * Assumed: a sync that returned is kept; a name appears or vanishes whole; effects on different files and folders reach the disk in any
 * order; of a write that was not synced the first half may be there alone, and of pages of SQLite either half of them, each page whole.
 */
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** A file or a folder, whatever its name. The folder that is looked at is 0. */
export type NodeId = number

const ROOT: NodeId = 0

export interface EntryChange {
  readonly folder: NodeId
  readonly name: string
  /** What the name stands for from now on; null when it is gone. */
  readonly node: NodeId | null
}

export type Effect =
  | { readonly kind: 'entries'; readonly what: string; readonly changes: readonly EntryChange[] }
  | {
      readonly kind: 'write'
      readonly what: string
      readonly node: NodeId
      readonly offset: number
      readonly bytes: Buffer
      /** Of SQLite's files: what is there whole or not at all. */
      readonly pageBytes: number | null
      /** Durable as soon as it can be seen. */
      readonly isDurable?: boolean
    }
  | { readonly kind: 'size'; readonly what: string; readonly node: NodeId; readonly size: number }
  | { readonly kind: 'sync'; readonly what: string; readonly node: NodeId }
  /** Files that whoever listened was told to be there for good, with their content. */
  | { readonly kind: 'told'; readonly what: string; readonly files: ReadonlyMap<string, string> }

/** How much of an effect is lost: all of it, or of a write the first or the last half. */
export type Loss = 'all' | 'beginning' | 'end'

/** What is lost, by the place of the effect in the list. */
export type Losses = ReadonlyMap<number, Loss>

export class Disk {
  readonly folders = new Map<NodeId, Map<string, NodeId>>([[ROOT, new Map()]])
  readonly files = new Map<NodeId, Buffer>()

  /** The node that a path stands for, with slashes, from the root; undefined for none. */
  find(path: string): NodeId | undefined {
    let node: NodeId | undefined = ROOT
    for (const name of path.split('/')) if (name !== '') node = node === undefined ? undefined : this.folders.get(node)?.get(name)
    return node
  }

  /** Every file's content by its path. */
  contents(): Map<string, Buffer> {
    const found = new Map<string, Buffer>()
    const walk = (folder: NodeId, path: string) => {
      for (const [name, node] of this.folders.get(folder) ?? []) {
        const content = this.files.get(node)
        if (content) found.set(path + name, content)
        else walk(node, `${path}${name}/`)
      }
    }
    walk(ROOT, '')
    return found
  }

  /** Lays it down in an empty folder. */
  write(root: string): void {
    const walk = (folder: NodeId, path: string) => {
      for (const [name, node] of this.folders.get(folder) ?? []) {
        const content = this.files.get(node)
        if (content) writeFileSync(join(path, name), content)
        else {
          mkdirSync(join(path, name))
          walk(node, join(path, name))
        }
      }
    }
    walk(ROOT, root)
  }

  copy(): Disk {
    const copy = new Disk()
    for (const [folder, entries] of this.folders) copy.folders.set(folder, new Map(entries))
    for (const [node, content] of this.files) copy.files.set(node, content)
    return copy
  }

  /** @param loss of an effect that is there in part or not at all */
  apply(effect: Effect, loss?: Loss): void {
    if (effect.kind === 'entries') {
      for (const { folder, name, node } of effect.changes) {
        if (node === null) {
          if (loss !== 'all') this.folders.get(folder)?.delete(name)
          continue
        }
        if (!this.folders.has(node) && !this.files.has(node)) this.files.set(node, Buffer.alloc(0))
        if (loss !== 'all') this.folders.get(folder)?.set(name, node)
      }
    } else if (effect.kind === 'write' && loss !== 'all') {
      const { offset, bytes } = partLeft(effect, loss)
      const before = this.files.get(effect.node) ?? Buffer.alloc(0)
      const after = Buffer.alloc(Math.max(before.length, offset + bytes.length))
      before.copy(after)
      bytes.copy(after, offset)
      this.files.set(effect.node, after)
    } else if (effect.kind === 'size' && loss !== 'all') {
      const after = Buffer.alloc(effect.size)
      this.files.get(effect.node)?.copy(after)
      this.files.set(effect.node, after)
    }
  }
}

/** What of a write is on disk. */
function partLeft({ offset, bytes, pageBytes }: Extract<Effect, { kind: 'write' }>, loss: Loss | undefined): { offset: number; bytes: Buffer } {
  if (loss === undefined) return { offset, bytes }
  const middle = pageBytes === null ? bytes.length >> 1 : Math.ceil(bytes.length / pageBytes / 2) * pageBytes
  return loss === 'end' ? { offset, bytes: bytes.subarray(0, middle) } : { offset: offset + middle, bytes: bytes.subarray(middle) }
}

/** A folder as it lies on the real disk, taken as durable. What SQLite keeps in shared memory is no part of it. */
export function diskOf(root: string, newNode: () => NodeId): Disk {
  const disk = new Disk()
  const read = (path: string, folder: NodeId) => {
    for (const entry of readdirSync(path, { withFileTypes: true })) {
      if (entry.name.endsWith('-shm')) continue
      const node = newNode()
      disk.folders.get(folder)?.set(entry.name, node)
      if (!entry.isDirectory()) disk.files.set(node, readFileSync(join(path, entry.name)))
      else {
        disk.folders.set(node, new Map())
        read(join(path, entry.name), node)
      }
    }
  }
  read(root, ROOT)
  return disk
}

/** What was done, on what. */
export interface Recording {
  readonly base: Disk
  /** Folders that were made meanwhile. */
  readonly madeFolders: ReadonlySet<NodeId>
  readonly effects: readonly Effect[]
}

/** The disk after the first `count` effects, without what is lost of them. */
export function diskAfter({ base, madeFolders, effects }: Recording, count: number, losses: Losses = new Map()): Disk {
  const disk = base.copy()
  for (const folder of madeFolders) disk.folders.set(folder, new Map())
  for (const [index, effect] of effects.slice(0, count).entries()) disk.apply(effect, losses.get(index))
  return disk
}

/** Which of the first `count` effects are not durable then, ascending. */
export function unsyncedAt({ effects }: Recording, count: number): number[] {
  const synced = new Set<NodeId>()
  const unsynced: number[] = []
  for (let index = count - 1; index >= 0; index--) {
    const effect = effects[index]
    if (effect?.kind === 'sync') synced.add(effect.node)
    else if (effect?.kind === 'entries' && effect.changes.some(({ folder }) => !synced.has(folder))) unsynced.push(index)
    else if (effect?.kind === 'write' && !effect.isDurable && !synced.has(effect.node)) unsynced.push(index)
    else if (effect?.kind === 'size' && !synced.has(effect.node)) unsynced.push(index)
  }
  return unsynced.reverse()
}

/** The ways in which an effect may be lost. */
export function lossesOf(effect: Effect): readonly Loss[] {
  if (effect.kind !== 'write') return ['all']
  if (effect.pageBytes === null) return effect.bytes.length > 1 ? ['all', 'end'] : ['all']
  return effect.bytes.length > effect.pageBytes ? ['all', 'end', 'beginning'] : ['all']
}
