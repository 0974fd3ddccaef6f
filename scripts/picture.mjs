/**
 * Makes the README's pictures from real runs. docs/dashboard.svg: starts the built dashboard in a pseudo-terminal in a temporary
 * workspace, kills events_copy with `x`, and has the dashboard write its own screen with `:picture`. docs/play-02.svg: a recorded play.
 *
 *   npm run build && node scripts/picture.mjs
 */
import { execFileSync } from 'node:child_process'
import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { spawn } from '@lydell/node-pty'
import xterm from '@xterm/headless'

const PICTURE = fileURLToPath(new URL('../docs/dashboard.svg', import.meta.url))
const PLAY = fileURLToPath(new URL('../docs/play-02.svg', import.meta.url))
const CLI = fileURLToPath(new URL('../dist/cli.js', import.meta.url))
const SIZE = { cols: 120, rows: 38 }
const LONGEST_WAIT_MS = 60_000

const parent = mkdtempSync(join(tmpdir(), 'streamtop-picture-'))
const workspace = join(parent, 'demo')
const screen = new xterm.Terminal({ ...SIZE, allowProposedApi: true, scrollback: 0 })
const dashboard = spawn(process.execPath, [CLI, '--workspace', workspace], { ...SIZE, cwd: parent, env: { ...process.env, TERM: 'xterm-256color', TZ: 'UTC' } })
dashboard.onData((data) => screen.write(data))
const ended = new Promise((resolve) => dashboard.onExit(resolve))

try {
  await shows(/running +events_copy .* [5-9] +\d+ +\d+ +0 +0 = exactly once/)
  dashboard.write('x')
  await shows(/KILLED +events_copy/)
  await shows(/expect \d+ duplicates/)
  rmSync(PICTURE, { force: true })
  dashboard.write(`:picture ${PICTURE}\r`)
  await shows(/this screen is in/)
} finally {
  dashboard.write('q')
  await ended
  rmSync(parent, { recursive: true, force: true })
}

rmSync(PLAY, { force: true })
execFileSync(process.execPath, [CLI, 'play', '02', '--speed', '2', '--svg', PLAY], {
  stdio: ['ignore', 'ignore', 'inherit'],
  env: { ...process.env, TZ: 'UTC' },
})
chmodSync(PLAY, 0o644)

/** Waits until the screen shows it. */
async function shows(wanted) {
  const startedMs = performance.now()
  while (!wanted.test(text())) {
    if (performance.now() - startedMs > LONGEST_WAIT_MS) throw new Error(`the screen never showed ${wanted}:\n${text()}`)
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}

function text() {
  return Array.from({ length: SIZE.rows }, (_, row) => screen.buffer.active.getLine(row)?.translateToString(true) ?? '').join('\n')
}
