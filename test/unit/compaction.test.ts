/** Which files are put together, and how long removed ones are kept: the pure parts of `optimize` and `vacuum`. */
import { describe, expect, it } from 'vitest'
import type { AddFile, Metadata } from '../../src/store/actions.js'
import { filesToCompact } from '../../src/store/compaction.js'
import { durationText, retentionOf } from '../../src/store/retention.js'

interface Told {
  readonly rows?: number
  readonly day?: string
  readonly hasVector?: boolean
}

function file(path: string, size: number, { rows = 1, day, hasVector = false }: Told = {}): AddFile {
  const deletionVector = hasVector ? { storageType: 'i', pathOrInlineDv: 'x', sizeInBytes: 1, cardinality: 1 } : null
  const partitionValues = day === undefined ? {} : { day }
  return { path, size, modifiedMs: 0, dataChange: true, partitionValues, statistics: `{"numRecords":${rows}}`, deletionVector }
}

const bins = (...files: AddFile[]) => filesToCompact(files, 100).map((bin) => bin.map(({ path }) => path).join(''))

describe('files that are put together', () => {
  it('are neighbours that are smaller than the target, up to the target', () => {
    expect(bins(file('a', 40), file('b', 40), file('c', 40), file('d', 60), file('e', 1))).toEqual(['ab', 'cd'])
    expect(bins(file('a', 40), file('b', 100), file('c', 40))).toEqual(['ac'])
    expect(bins(file('a', 99), file('b', 99))).toEqual([])
    expect(bins(file('a', 1))).toEqual([])
    expect(bins()).toEqual([])
  })

  it('are of one partition', () => {
    const [a, b, c, d] = [file('a', 1, { day: '1' }), file('b', 1, { day: '2' }), file('c', 1, { day: '1' }), file('d', 1, { day: '2' })]
    expect(bins(a, b, c, d)).toEqual(['ac', 'bd'])
  })

  it('have no more rows together than fit into memory', () => {
    expect(bins(file('a', 1, { rows: 300_000 }), file('b', 1, { rows: 300_000 }), file('c', 1, { rows: 200_000 }))).toEqual(['bc'])
  })

  it('are those with a deletion vector, also alone and large', () => {
    expect(bins(file('a', 500, { hasVector: true }), file('b', 500))).toEqual(['a'])
  })
})

describe('the retention', () => {
  const of = (text?: string) =>
    retentionOf('t', { configuration: text === undefined ? {} : { 'delta.deletedFileRetentionDuration': text } } as unknown as Metadata)

  it.each([
    [undefined, '7 days'],
    ['interval 1 week', '7 days'],
    ['interval 30 days', '30 days'],
    ['1 day 12 hours', '36 hours'],
    ['INTERVAL 0 HOURS', '0 seconds'],
    ['interval 1 day', '1 day'],
  ])('%s is %s', (text, said) => {
    expect(durationText(of(text))).toBe(said)
  })

  it.each(['interval 1 month', 'soon', '', 'interval -1 days'])('%s is refused by name', (text) => {
    expect(() => of(text)).toThrow(/delta.deletedFileRetentionDuration/)
  })
})
