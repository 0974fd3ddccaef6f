import { describe, expect, it } from 'vitest'
import { tableSourceOptions, topicSourceOptions } from '../../src/engine/source-options.js'
import { formatTableOffset, parseTableOffset } from '../../src/engine/table-offset.js'
import { StreamtopError } from '../../src/errors.js'

describe('options of a source', () => {
  it('without any: the defaults of Spark and Delta', () => {
    expect(tableSourceOptions([])).toEqual({
      maxFilesPerTrigger: 1000,
      maxBytesPerTrigger: null,
      skipChangeCommits: false,
      ignoreDeletes: false,
      ignoreChanges: false,
      startingVersion: null,
    })
    expect(topicSourceOptions([])).toEqual({ maxOffsetsPerTrigger: null, startingOffsets: null, failOnDataLoss: true, isolation: null })
  })

  it('keys and words in any case, the last of one key counts', () => {
    expect(tableSourceOptions(['MAXFILESPERTRIGGER=1', 'maxFilesPerTrigger=2', 'skipchangecommits=True', 'startingVersion=0'])).toMatchObject({
      maxFilesPerTrigger: 2,
      skipChangeCommits: true,
      startingVersion: 0,
    })
    expect(topicSourceOptions(['startingoffsets={"a=b":{"0":-2}}', 'failondataloss=FALSE'])).toMatchObject({
      startingOffsets: new Map([['a=b', new Map([[0, -2n]])]]),
      failOnDataLoss: false,
    })
  })

  it.each([
    ['1', 1],
    ['10b', 10],
    ['2k', 2048],
    ['3mb', 3 * 1024 ** 2],
    ['1G', 1024 ** 3],
  ])('maxBytesPerTrigger=%s', (text, bytes) => expect(tableSourceOptions([`maxBytesPerTrigger=${text}`]).maxBytesPerTrigger).toBe(bytes))

  it('takes the end of a Long for no limit, as Spark does, and nothing behind it', () => {
    const [end, behind] = ['9223372036854775807', '9223372036854779904']
    expect(topicSourceOptions([`maxOffsetsPerTrigger=${end}`]).maxOffsetsPerTrigger).toBe(Number.MAX_SAFE_INTEGER)
    expect(tableSourceOptions([`maxBytesPerTrigger=${end}`, `maxFilesPerTrigger=${end}`])).toMatchObject({
      maxBytesPerTrigger: Number.MAX_SAFE_INTEGER,
      maxFilesPerTrigger: Number.MAX_SAFE_INTEGER,
    })
    expect(tableSourceOptions(['maxBytesPerTrigger=8191p']).maxBytesPerTrigger).toBe(Number.MAX_SAFE_INTEGER)
    expect(errorOf(() => topicSourceOptions([`maxOffsetsPerTrigger=${behind}`])).code).toBe('usage')
    expect(errorOf(() => tableSourceOptions([`maxBytesPerTrigger=${behind}`])).code).toBe('usage')
  })

  it.each([
    { pair: 'maxFilesPerTriger=1', words: 'did you mean maxFilesPerTrigger?' },
    { pair: 'maxfiles=1', words: 'It has maxFilesPerTrigger' },
    { pair: 'somethingElse=1', words: 'it has maxFilesPerTrigger' },
    { pair: 'maxOffsetsPerTrigger=1', words: 'maxFilesPerTrigger' },
    { pair: 'maxFilesPerTrigger', words: 'KEY=VALUE' },
    { pair: '=1', words: 'KEY=VALUE' },
    { pair: 'maxFilesPerTrigger=0', words: 'a whole number from 1 on' },
    { pair: 'maxFilesPerTrigger=1.5', words: 'a whole number from 1 on' },
    { pair: 'maxFilesPerTrigger=', words: 'a whole number from 1 on' },
    { pair: 'maxBytesPerTrigger=0', words: 'a size' },
    { pair: 'maxBytesPerTrigger=10x', words: 'a size' },
    { pair: 'skipChangeCommits=yes', words: 'true or false' },
    { pair: 'startingVersion=-1', words: 'or latest' },
  ])('refuses $pair', ({ pair, words }) => {
    const error = errorOf(() => tableSourceOptions([pair]))
    expect(error.code).toBe('usage')
    expect(`${error.message}. ${error.hint}`).toMatch(new RegExp(words.replace('?', '\\?'), 'i'))
    expect(error.message).toContain(pair.split('=')[0])
  })

  it.each(['startingOffsets=first', 'startingOffsets={"orders":{"0":-3}}', 'maxOffsetsPerTrigger=x', 'failOnDataLoss=1', 'maxFilesPerTrigger=1'])(
    'refuses %s for a topic',
    (pair) => expect(errorOf(() => topicSourceOptions([pair])).code).toBe('usage'),
  )
})

describe('the offset of a table as text', () => {
  const line = '{"sourceVersion":1,"reservoirId":"7b1d3f9a","reservoirVersion":12,"index":-1,"isStartingVersion":false}'

  it('as Delta writes it', () => {
    expect(formatTableOffset(parseTableOffset(line, ''))).toBe(line)
    expect(parseTableOffset(line, '')).toEqual({ tableId: '7b1d3f9a', version: 12, index: -1, isInitialSnapshot: false })
    expect(parseTableOffset(line.replace('"sourceVersion":1', '"x":1,"sourceVersion":3').replace('-1', '4'), '').index).toBe(4)
  })

  it.each([
    { text: line.slice(0, 40), code: 'checkpoint-damaged', condition: 'DELTA_INVALID_SOURCE_OFFSET_FORMAT' },
    { text: '5', code: 'checkpoint-damaged', condition: 'DELTA_INVALID_SOURCE_OFFSET_FORMAT' },
    { text: '{"orders":{"0":1}}', code: 'checkpoint-damaged', condition: 'DELTA_INVALID_SOURCE_OFFSET_FORMAT' },
    { text: line.replace('12', '"12"'), code: 'checkpoint-damaged', condition: 'DELTA_INVALID_SOURCE_OFFSET_FORMAT' },
    { text: line.replace('-1', '-2'), code: 'checkpoint-damaged', condition: 'DELTA_INVALID_SOURCE_OFFSET_FORMAT' },
    { text: line.replace('n":1,', 'n":2,'), code: 'checkpoint-damaged', condition: 'DELTA_INVALID_SOURCE_VERSION' },
    { text: line.replace('n":1,', 'n":"1",'), code: 'checkpoint-damaged', condition: 'DELTA_INVALID_SOURCE_VERSION' },
    { text: line.replace('n":1,', 'n":4,'), code: 'checkpoint-damaged', condition: 'DELTA_INVALID_FORMAT_FROM_SOURCE_VERSION' },
    { text: line.replace('n":1,', 'n":3,').replace('-1', '-20'), code: 'unsupported-feature', condition: undefined },
  ])('refuses $text', ({ text, code, condition }) => {
    const error = errorOf(() => parseTableOffset(text, 'offsets/3'))
    expect(error).toMatchObject({ code, message: expect.stringContaining('offsets/3') })
    expect(error.condition).toBe(condition)
  })
})

function errorOf(run: () => unknown): StreamtopError {
  try {
    run()
  } catch (error) {
    if (error instanceof StreamtopError) return error
    throw error
  }
  throw new Error('it did not throw')
}
