/** The selected query's batch on its way through the eight steps. */
import { type Step, STEPS } from '../engine/steps.js'
import { counted } from '../observe/counted.js'
import { type BatchSteps, batchStepsOf, type ShownStep } from './batch-steps.js'
import { shownText } from './foreign-text.js'
import type { Look, StepShape } from './glyphs.js'
import type { Line, Span, Tone } from './line.js'
import { ageOf, shortDuration, timeOfDay } from './local-time.js'
import type { Model } from './model.js'
import { asideRoom, firstThatFits, type Pane } from './pane.js'
import { span } from './spans.js'
import type { Subject } from './subject.js'
import { cellWidth } from './width.js'

/** With names above and times below, all steps on one line. */
const WIDE_COLUMNS = 110
/** Three steps on a line with their times: what is read, what is written, the two commits. */
const GRID_COLUMNS = 75

/** @param width of its lines @param height how many it may have: three for all names, one for shapes alone */
export function batchPane(subject: Subject, { model, look, width, height }: { model: Model; look: Look; width: number; height: number }): Pane {
  const batch = batchStepsOf(subject)
  const title = titleOf(subject, batch, width, look)
  const room = asideRoom(title, width)
  return {
    title,
    aside: asideOf(subject, batch, { model, look, room }),
    lines: linesOf(batch, width, height, look),
  }
}

function linesOf(batch: BatchSteps, width: number, height: number, look: Look): Line[] {
  if (height >= 2 && width >= WIDE_COLUMNS) return wideLines(batch, look)
  if (height >= 3 && width >= GRID_COLUMNS) return gridLines(batch, width, look)
  const { death, last } = batch
  const shapes = STEPS.flatMap((step) => [span(`${look.glyphs.step[batch.steps[step].shape]} `, TONES[batch.steps[step].shape])])
  return [[...shapes, span(last === null ? '' : `${last} ${wordOf(batch.steps[last], death)}`)]]
}

function wideLines({ steps, death }: BatchSteps, { glyphs }: Look): Line[] {
  const cells = STEPS.map((step) => {
    const { shape } = steps[step]
    return { name: step, tone: TONES[shape], state: `${glyphs.step[shape]} ${wordOf(steps[step], death)}` }
  })
  const widths = cells.map(({ name }) => name.length + 2)
  const row = (textOf: (cell: (typeof cells)[number]) => Span) => cells.map((cell, index) => padded(textOf(cell), widths[index] ?? 0))
  return [row(({ name, tone }) => span(name, tone)), row(({ state, tone }) => span(state, tone))]
}

function gridLines({ steps, death }: BatchSteps, width: number, { glyphs }: Look): Line[] {
  const rows: readonly (readonly Step[])[] = [STEPS.slice(0, 3), STEPS.slice(3, 6), STEPS.slice(6)]
  return rows.map((row) =>
    row.map((step) => {
      const { shape } = steps[step]
      return padded(span(`${glyphs.step[shape]} ${step} ${wordOf(steps[step], death)}`, TONES[shape]), Math.floor(width / 3))
    }),
  )
}

function wordOf({ shape, tookMs }: ShownStep, death: string): string {
  if (shape === 'died') return death
  if (shape === 'held') return 'held'
  if (shape === 'armed') return 'armed'
  if (shape === 'passed') return 'skipped'
  return tookMs === null ? '' : shortDuration(tookMs)
}

const TONES: Readonly<Record<StepShape, Tone>> = { reached: 'alive', held: 'flight', died: 'dead', armed: 'flight', unreached: 'text', passed: 'text' }

function padded({ text, tone }: Span, width: number): Span {
  return span(text + ' '.repeat(Math.max(1, width - cellWidth(text))), tone)
}

function titleOf(subject: Subject, batch: BatchSteps, width: number, { glyphs }: Look): Line {
  const name = shownText(subject.name, glyphs.isAscii, 60)
  if (batch.batchId === null) return [span(`${name}: no batch yet`, 'title')]
  const seen = subject.batches?.find(({ batchId }) => batchId === batch.batchId) ?? null
  const rows = seen?.rows ?? (batch.batchId === subject.status?.batchId ? (subject.status.batchAttempts.at(-1)?.rows ?? null) : null)
  const parts = [`${name}: batch ${batch.batchId}`]
  if (rows !== null) parts.push(counted(rows, 'row'))
  if ((batch.attempt ?? 1) > 1) parts.push(`attempt ${batch.attempt}`)
  if (batch.write !== null) parts.push(shownText(writeText(batch.write, subject.live.info.writes.length), glyphs.isAscii, 60))
  const source = subject.status?.source ?? subject.live.info.source
  if (width >= WIDE_COLUMNS && seen !== null && seen.range !== null && source !== null)
    parts.push(shownText(`${seen.range} of ${source.name}`, glyphs.isAscii, 60))
  return [span(parts.join(', '), 'title')]
}

function writeText({ number, table }: { readonly number: number; readonly table: string | null }, tableCount: number): string {
  const into = table === null ? '' : ` (${table})`
  // The first write may be all of them, as one commit over several tables.
  return tableCount > 1 && number > 1 ? `table ${number} of ${Math.max(tableCount, number)}${into}` : `write ${number}${into}`
}

/** What its process is doing, in as many words as fit. */
function asideOf(subject: Subject, batch: BatchSteps, { model, look, room }: { model: Model; look: Look; room: number }): Line {
  const { live, condition, status } = subject
  const lag = status === null || status.lag === null || status.lag === 0 ? '' : `; ${counted(status.lag, 'row')} behind`
  const { ending } = live
  if (live.process === 'none' && ending !== null && condition.name !== 'elsewhere') {
    const when = model.state?.isPaused ? `at ${timeOfDay(ending.atMs, look.timeZoneOffsetMinutes)}` : ageOf(ending.atMs, model.nowMs)
    const what = { killed: 'SIGKILL', died: 'died of a signal', failed: 'failed', stopped: 'stopped' }[ending.kind]
    const pid = ending.pid === null ? '' : ` pid ${ending.pid},`
    return firstThatFits([`${what}${pid} ${when}${lag}`, `${what}${pid} ${when}`, `${what} ${when}`, what], room, ending.kind === 'stopped' ? 'text' : 'dead')
  }
  if (live.process === 'none') {
    const seen = batch.batchId === null || batch.isSeenLive ? [] : ['as the disk tells it', 'seen on disk']
    return firstThatFits(condition.name === 'elsewhere' ? ['run by another process, as the disk tells it', ...seen] : seen, room, 'text')
  }
  if (live.isWaitingForSource)
    return firstThatFits(live.unreachable === null ? ['waits for its source'] : ['its source does not answer', 'waits for its source'], room, 'flight')
  if (live.heldAt !== null) return firstThatFits([`held at ${live.heldAt.step}`], room, 'flight')
  if (live.armed !== null) {
    const occurrence = live.armed.occurrence > 1 ? ` number ${live.armed.occurrence}` : ''
    return firstThatFits([`armed: dies at ${live.armed.step}${occurrence}`, `dies at ${live.armed.step}`, 'armed'], room, 'flight')
  }
  const took = batch.tookMs !== null && batch.last === 'batch-committed' ? `, took ${shortDuration(batch.tookMs)}` : ''
  const pid = live.pid === null ? live.process : `pid ${live.pid}`
  return firstThatFits([`${pid}${took}${lag}`, `${pid}${took}`, pid], room)
}
