/**
 * What `src/effects.ts` gets in place of `node:fs` in a bundle of these tests (bundle.mjs): the same functions, but whoever watches
 * hears of each call that changes something before it is made, and may throw: then this life has died there. Writes are made in two
 * halves, so that a death between them is possible. Nothing is synced, for a killed process needs no sync.
 */
import * as fs from 'node:fs'

/** Hears of a call before it is made. */
export type CallWatch = (call: string, path: string) => void

let watch: CallWatch = () => {}

/** Sets who hears of calls from now on. */
export function watchCalls(next: CallWatch): void {
  watch = next
}

const paths = new Map<number, string>()

export const { constants, readFileSync, statSync, lstatSync, fstatSync, createReadStream, readdirSync, existsSync } = fs

export function openSync(path: string, flags: string, mode?: number): number {
  if (flags !== 'r') watch('create', path)
  const file = fs.openSync(path, flags, mode)
  paths.set(file, path)
  return file
}

export function closeSync(file: number): void {
  paths.delete(file)
  fs.closeSync(file)
}

export function writeSync(file: number, content: Uint8Array, from: number, length: number): number {
  const path = paths.get(file) ?? '?'
  watch('write', path)
  const half = length >> 1
  fs.writeSync(file, content, from, half)
  watch('write the rest of', path)
  return half + fs.writeSync(file, content, from + half, length - half)
}

export function fsyncSync(): void {}

export function ftruncateSync(file: number, size: number): void {
  watch('cut', paths.get(file) ?? '?')
  fs.ftruncateSync(file, size)
}

export function mkdirSync(path: string): void {
  watch('make', path)
  fs.mkdirSync(path)
}

export function linkSync(from: string, to: string): void {
  watch('link', to)
  fs.linkSync(from, to)
}

export function renameSync(from: string, to: string): void {
  watch('rename', from)
  fs.renameSync(from, to)
}

export function unlinkSync(path: string): void {
  watch('remove', path)
  fs.unlinkSync(path)
}

/** A folder goes file by file: a death may leave half of it. */
export function rmSync(path: string, options: fs.RmOptions = {}): void {
  if (options.recursive && fs.existsSync(path))
    for (const name of fs.readdirSync(path).sort()) rmSync(`${path}/${name}`, isFolder(`${path}/${name}`) ? options : {})
  watch('remove', path)
  fs.rmSync(path, options)
}

function isFolder(path: string): boolean {
  return fs.statSync(path).isDirectory()
}
