/** Recordings of the built command: on a terminal, without one, killed, and with secrets around. */
import { mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { commandFolder, until } from '../integration/command.js'
import { openTerminal } from '../integration/pseudo-terminal.js'
import { movingPicture, whyNoXml } from '../tui/moving-picture.js'
import { eventsOf, playedBack } from '../tui/recorded-run.js'

const TWICE = /events_copy .* 18 +9 +9 +0 \+ duplicated/

describe('a play that is recorded', () => {
  test('on a terminal, of which the size changes, ends in what the terminal showed', async () => {
    const { folder, path } = commandFolder()
    const terminal = openTerminal('play 02 --speed 20 --record a.cast --svg a.svg', { folder })
    await terminal.shows(/KILLED +events_copy/)
    terminal.resize(100, 30)
    await terminal.shows('5 of 5 expectations met')
    terminal.press('q')
    expect(await terminal.ended).toBe(0)
    const cast = readFileSync(path('a.cast'), 'utf8')
    const last = await playedBack(cast)
    expect(last).toMatch(TWICE)
    expect(last.split('\n')).toHaveLength(30)
    expect(movingPicture(readFileSync(path('a.svg'), 'utf8')).textAt(null)).toBe(last)
  })

  test('without a terminal is the same, beside its transcript', async () => {
    const { streamtop, path } = commandFolder()
    const { exitCode, stdout } = streamtop('play 02 --speed 20 --record a.cast --svg a.svg')
    expect({ exitCode, stdout }).toEqual({ exitCode: 0, stdout: expect.stringContaining('✓ 5 of 5 expectations met') })
    expect(await playedBack(readFileSync(path('a.cast'), 'utf8'))).toMatch(TWICE)
    expect(statSync(path('a.svg')).size).toBeLessThan(300_000)
  })

  test.each(['01', '05', '16'])('in virtual time is small, whole, and moves: %s', (number) => {
    const { streamtop, path } = commandFolder()
    expect(streamtop(`play ${number} --virtual --speed 3 --svg a.svg`)).toMatchObject({ exitCode: 0, stderr: '' })
    const svg = readFileSync(path('a.svg'), 'utf8')
    expect(whyNoXml(svg)).toBeNull()
    expect(movingPicture(svg).momentsMs.length).toBeGreaterThan(15)
    expect(svg.length).toBeLessThan(300_000)
  })

  test('fails with exit code 1 when something is not as expected', () => {
    const { streamtop, write } = commandFolder()
    write('mine.yaml', 'title: Mine\nscript:\n  - produce: all\n  - run: bronze_orders\n  - expect: { table: bronze_orders, rows: 8 }\n')
    expect(streamtop('play mine.yaml --speed 100 --record a.cast')).toMatchObject({ exitCode: 1, stdout: expect.stringContaining('rows 8 (found 9)') })
  })
})

describe('a dashboard that is recorded', () => {
  test('and killed with SIGKILL leaves a cast that plays', async () => {
    const { folder, path } = commandFolder()
    const terminal = openTerminal('--pace brisk --record a.cast --svg a.svg', { folder })
    await terminal.shows(/running +events_copy .* = exactly once/)
    await until('the cast shows it', async () => /running +events_copy .* = exactly once/.test(await playedBack(readFileSync(path('a.cast'), 'utf8'))))
    terminal.signal('SIGKILL')
    await terminal.ended
    expect(await playedBack(readFileSync(path('a.cast'), 'utf8'))).toMatch(/running +events_copy/)
  })

  test('goes on when the recording cannot, and says so at its end', async () => {
    const { folder, path } = commandFolder()
    mkdirSync(path('recordings'))
    const terminal = openTerminal('--pace brisk --record recordings/a.cast', { folder })
    await terminal.shows(/running +events_copy/)
    rmSync(path('recordings'), { recursive: true })
    terminal.press('x')
    await terminal.shows(/KILLED +events_copy/)
    terminal.press('q')
    expect(await terminal.ended).toBe(2)
    await terminal.shows('the recording recordings/a.cast has ended early: the file was removed')
  })

  test('has no secret in it, of the environment or of a file', async () => {
    const { folder, path } = commandFolder()
    writeFileSync(
      path('client.properties'),
      'security.protocol=SASL_SSL\nsasl.mechanism=PLAIN\nsasl.jaas.config=org.apache.kafka.common.security.plain.PlainLoginModule required username="canary-user" password="canary-word";\n',
      { mode: 0o600 },
    )
    const environment = { CANARY: 'canary-value', USER: 'canary-name', HOME: path('canary-home'), SHELL: '/bin/canary-shell', HOSTNAME: 'canary-host' }
    const terminal = openTerminal('--kafka 127.0.0.1:1 --kafka-properties client.properties --record a.cast --svg a.svg', { folder, environment })
    await terminal.shows('bronze_orders')
    await terminal.shows('127.0.0.1:1')
    terminal.press('?')
    terminal.press('q')
    terminal.press('q')
    await terminal.ended
    for (const name of ['a.cast', 'a.svg']) expect(readFileSync(path(name), 'utf8')).not.toContain('canary')
    expect(eventsOf(readFileSync(path('a.cast'), 'utf8')).length).toBeGreaterThan(3)
  })
})
