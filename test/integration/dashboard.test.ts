/** The built dashboard in a real pseudo-terminal, read back through a terminal emulator, and without a terminal. */
import { spawn } from 'node:child_process'
import { mkdirSync, readFileSync, readdirSync } from 'node:fs'
import { describe, expect, test, vi } from 'vitest'
import { commandFolder, isRunning, until } from './command.js'
import { CLI, openTerminal, type OpenTerminal, processesIn, WHOLE } from './pseudo-terminal.js'

// The whole machine may be at work on other tests.
vi.setConfig({ testTimeout: 120_000 })

describe('on a terminal', () => {
  test('killed between write and commit, events_copy has duplicates, and with idempotence it has not; the screen says why', async () => {
    const { folder } = commandFolder()
    const terminal = openTerminal('--pace brisk', { folder })
    await terminal.wrote('Opening')
    await terminal.shows(/▶2 . running +events_copy +off/)
    // By then the generator may have sent more than the nine.
    await terminal.shows(/1 . running bronze_orders +ON +\d+ +(9|[1-9]\d)/)

    terminal.press('x')
    await terminal.shows(/✕ KILLED +events_copy +off/)
    await terminal.shows('✕ table-committed')
    await terminal.shows(/before it\s+committed it/)
    terminal.press('s')
    await terminal.shows(/running +events_copy +off .* [1-9]\d* +0 \+ duplicated/)

    const duplicates = () => Number(/events_copy +\w+ +\d+ +\d+ +\d+ +(\d+) /.exec(terminal.text())?.[1])
    terminal.press('i')
    // It is written with a txn from the next attempt on.
    await terminal.shows(/\d +events_copy, \d/)
    terminal.press('x')
    await terminal.shows(/✕ KILLED +events_copy/)
    const before = duplicates()
    terminal.press('s')
    await terminal.shows(/running +events_copy/)
    await terminal.shows('1 skip')
    await until('no more duplicates than before', () => duplicates() === before)

    terminal.press('K')
    await terminal.shows(/✕ KILLED +events_copy/)
    terminal.press('sr')
    await terminal.shows(/running +events_copy/)
    await quitsWhole(terminal, folder)
  })

  test('resized, it is as whole as it was', async () => {
    const { folder } = commandFolder()
    const terminal = openTerminal('--pace brisk --rate 0', { folder })
    await terminal.shows(/1 +. running +bronze_orders/)
    for (const [columns, rows] of [
      [120, 40],
      [50, 12],
      [30, 6],
      [120, 40],
    ] as const) {
      terminal.resize(columns, rows)
      await until(`whole at ${columns}×${rows}`, () => isWhole(terminal, columns, rows))
    }
    await quitsWhole(terminal, folder)
  })

  test.each([
    ['SIGTERM', 143],
    ['SIGHUP', 129],
    ['SIGINT', 130],
  ] as const)('%s ends the queries, leaves the terminal whole and exits %i', async (signal, exitCode) => {
    const { folder } = commandFolder()
    const terminal = openTerminal('--pace brisk', { folder })
    await terminal.shows(/1 +. running +bronze_orders/)
    terminal.signal(signal)
    expect(await terminal.ended).toBe(exitCode)
    expect(await terminal.state()).toEqual(WHOLE)
    expect(processesIn(folder)).toEqual([])
  })

  test('a terminal that is closed says so twice: the queries are stopped after their batches all the same', async () => {
    const { folder, streamtop } = commandFolder()
    const terminal = openTerminal('--pace slower', { folder })
    await terminal.shows(/● files-written/)
    terminal.signal('SIGHUP')
    terminal.signal('SIGHUP')
    expect(await terminal.ended).toBe(129)
    const { queries } = JSON.parse(streamtop('status --json').stdout) as { queries: { state: string; inFlight: boolean }[] }
    expect(queries.filter(({ state, inFlight }) => state === 'killed' || inFlight)).toEqual([])
  })

  test.each([
    ['ctrl-c is a key and quits with 0', '\u0003'],
    ['so does a second one', '\u0003\u0003'],
  ])('%s; --fresh leaves no folder behind', async (_, keys) => {
    const { folder, path } = commandFolder()
    const temporary = path('temporary')
    mkdirSync(temporary)
    const terminal = openTerminal('--fresh --pace brisk', { folder, environment: { TMPDIR: temporary } })
    await terminal.shows(/1 +. running +bronze_orders/)
    expect(readdirSync(temporary)).toHaveLength(1)
    terminal.press(keys)
    expect(await terminal.ended).toBe(0)
    expect({ state: await terminal.state(), fresh: readdirSync(temporary), here: readdirSync(folder) }).toEqual({
      state: WHOLE,
      fresh: [],
      here: ['temporary'],
    })
  })

  test('a configuration that never finishes does not keep it from its end', async () => {
    const { folder, write } = commandFolder()
    write('streamtop.config.mjs', 'for (;;);')
    const terminal = openTerminal('', { folder })
    await terminal.shows('opens the workspace')
    terminal.press('q')
    await terminal.shows('ctrl-c ends it now')
    await quitsWhole(terminal, folder)
  })

  test('a terminal that is gone ends it, and no query stays behind', async () => {
    const { folder } = commandFolder()
    const terminal = openTerminal('--pace brisk', { folder })
    await terminal.shows(/1 +. running +bronze_orders/)
    terminal.hangUp()
    await until('the dashboard has ended', () => !isRunning(terminal.pid))
    await until('its queries have ended', () => processesIn(folder).length === 0)
  })

  test('a terminal that takes nothing does not keep it from ending', async () => {
    const { folder } = commandFolder()
    const terminal = openTerminal('--pace full --rate 50', { folder, columns: 200, rows: 60 })
    await terminal.shows(/1 +. running +bronze_orders/)
    terminal.freeze()
    // Every ctrl-l is a whole screen: soon nothing more fits into the terminal's buffer.
    const written: number[] = []
    await until('the terminal is full', () => {
      terminal.press('\u000c')
      written.push(bytesWrittenBy(terminal.pid))
      // A frame is thousands of bytes; threads that wake each other write some too.
      return written.length > 40 && (written.at(-1) ?? 0) - (written.at(-40) ?? 0) < 1_000
    })
    terminal.signal('SIGTERM')
    await until('its queries have ended', () => processesIn(folder).length === 0)
    terminal.signal('SIGTERM')
    await until('the dashboard has ended', () => !isRunning(terminal.pid))
  })

  test('ctrl-z gives the terminal back, and fg takes it again', async () => {
    const { folder } = commandFolder()
    const shell = openTerminal('--pace brisk --rate 0', { folder, inShell: true })
    await shell.shows(/1 +. running +bronze_orders/)
    shell.press('\u001a')
    await shell.shows('Stopped')
    expect(await shell.state()).toMatchObject({ isAlternate: false, hasCursor: true })
    shell.press('fg\r')
    await shell.shows(/1 +. running +bronze_orders/)
    expect(await shell.state()).toMatchObject({ isAlternate: true, hasCursor: false })
    shell.press('q')
    await shell.shows(/> fg\n[\s\S]*\nshell> *\n*$/)
    shell.press('echo "ended with $?"\r')
    await shell.shows('ended with 0')
    expect(await shell.state()).toMatchObject({ isAlternate: false, hasCursor: true })
  })
})

describe('how it looks', () => {
  test('NO_COLOR: bold and reverse, and no colour', async () => {
    const { folder } = commandFolder()
    const coloured = openTerminal('--rate 0', { folder })
    await coloured.shows(/1 +. running +bronze_orders/)
    await quitsWhole(coloured, folder)
    expect(sgrOf(coloured)).toEqual(expect.arrayContaining([36]))
    const plain = openTerminal('--rate 0', { folder, environment: { NO_COLOR: '1' } })
    await plain.shows(/1 +. running +bronze_orders/)
    await quitsWhole(plain, folder)
    expect(sgrOf(plain).filter((code) => ![0, 1, 7].includes(code))).toEqual([])
  })

  test('--ascii: no other character', async () => {
    const { folder } = commandFolder()
    const terminal = openTerminal('--ascii --rate 0', { folder, columns: 120, rows: 40 })
    await terminal.shows(/1 +\* running +bronze_orders/)
    expect(terminal.text()).toMatch(/^[\x20-\x7e\n]*$/)
    await quitsWhole(terminal, folder)
  })

  test('TERM=dumb: lines, and a word why', async () => {
    const { folder } = commandFolder()
    const terminal = openTerminal('--seconds 2 --pace brisk', { folder, columns: 120, environment: { TERM: 'dumb' } })
    expect(await terminal.ended).toBe(0)
    expect(terminal.written.text).toContain('TERM is dumb: one line an event instead of the dashboard')
    // biome-ignore lint/suspicious/noControlCharactersInRegex: controls are what is looked for
    expect(terminal.written.text).not.toMatch(/[\u0000-\u0009\u000b\u000c\u000e-\u001f]/)
  })

  test('a theme that does not exist is wrong usage, and the terminal was never touched', async () => {
    const { folder } = commandFolder()
    const terminal = openTerminal('--theme solarized', { folder })
    expect(await terminal.ended).toBe(2)
    expect(terminal.written.text).not.toContain('\u001b')
  })
})

describe('without a terminal', () => {
  test('one line an event, then the counts, as the queries ran', async () => {
    const { start } = commandFolder()
    const { child, ended } = start('--pace fast')
    let said = ''
    child.stdout?.on('data', (data) => {
      said += data
    })
    // Where the query begins late, parts have gathered for its first batch.
    await until('a batch', () => / bronze_orders batch 0 committed: \+\d rows/.test(said))
    child.kill('SIGINT')
    const { exitCode, stdout, stderr } = await ended
    expect({ exitCode, stderr }).toEqual({ exitCode: 130, stderr: '' })
    for (const line of stdout.trimEnd().split('\n')) expect(line).toMatch(/^\d\d:\d\d:\d\d [a-z_]+ \S/)
    expect(stdout).toMatch(/ bronze_orders has (\d+) rows, \1 different, 0 duplicates, 0 missing: exactly-once\n/)
  })

  test('--json: an object a line, and after the seconds a quiet end', async () => {
    const { streamtop } = commandFolder()
    const { exitCode, stdout, stderr } = streamtop('--json --seconds 4 --pace fast')
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' })
    const events = stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, unknown>)
    expect(events.slice(0, -1).every(({ time, who, kind, text }) => [time, who, kind, text].every((value) => typeof value === 'string'))).toBe(true)
    expect(events.at(-1)).toMatchObject({ kind: 'counts', queries: [{ name: 'bronze_orders' }, { name: 'events_copy' }, { name: 'orders' }] })
  })

  test('| head -20: twenty lines and a quiet end', async () => {
    const { folder } = commandFolder()
    const line = `"${process.execPath}" "${CLI}" --pace fast --rate 20 | head -20; echo "codes \${PIPESTATUS[*]}"`
    const { stdout, stderr } = await output('bash', ['-c', line], folder)
    expect(stdout.trimEnd().split('\n')).toHaveLength(21)
    expect({ codes: stdout.trimEnd().split('\n').at(-1), stderr }).toEqual({ codes: 'codes 0 0', stderr: '' })
    await until('its queries have ended', () => processesIn(folder).length === 0)
  })

  test('ctrl-c ends it with 130 and the counts', async () => {
    const { folder, start } = commandFolder()
    const { child, ended } = start('--plain --pace fast')
    await until('it runs', () => processesIn(folder).length === 3)
    child.kill('SIGINT')
    const { exitCode, stdout } = await ended
    expect({ exitCode, last: stdout.trimEnd().split('\n').at(-1) }).toMatchObject({ exitCode: 130, last: expect.stringMatching(/ orders has /) })
    expect(processesIn(folder)).toEqual([])
  })
})

/** Quits with the key, and looks at what is left. */
async function quitsWhole(terminal: OpenTerminal, folder: string): Promise<void> {
  terminal.press('q')
  expect(await terminal.ended).toBe(0)
  expect(await terminal.state()).toEqual(WHOLE)
  expect(processesIn(folder)).toEqual([])
}

/** As many rows as there should be, the bottom one with the way out; nothing of another size is left. */
function isWhole(terminal: OpenTerminal, columns: number, rows: number): boolean {
  const seen = terminal.rows()
  if (seen.length !== rows || seen.some((row) => row.length > columns)) return false
  if (columns < 40 || rows < 8) return /40/.test(terminal.text())
  return seen.filter((row) => row.includes('streamtop ')).length === 1 && (seen.at(-1) ?? '').includes('quit')
}

function sgrOf({ written }: OpenTerminal): number[] {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: codes are what is looked for
  const codes = [...written.text.matchAll(/\u001b\[([\d;]*)m/g)].flatMap(({ 1: list = '' }) => (list === '' ? [0] : list.split(';').map(Number)))
  return [...new Set(codes)].sort((a, b) => a - b)
}

/** By its main thread: the workspace's thread writes to databases. */
function bytesWrittenBy(pid: number): number {
  return Number(/^wchar: (\d+)/m.exec(readFileSync(`/proc/${pid}/task/${pid}/io`, 'utf8'))?.[1])
}

function output(program: string, args: readonly string[], folder: string): Promise<{ readonly stdout: string; readonly stderr: string }> {
  const child = spawn(program, args, { cwd: folder })
  let [stdout, stderr] = ['', '']
  child.stdout.on('data', (data) => {
    stdout += data
  })
  child.stderr.on('data', (data) => {
    stderr += data
  })
  return new Promise((resolve) => child.on('close', () => resolve({ stdout, stderr })))
}
