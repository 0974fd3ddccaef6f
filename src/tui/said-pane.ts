/** What just happened to the selected query and what can be done now, in words. */
import { errorFrom } from '../engine/messages.js'
import type { StepEvent } from '../engine/steps.js'
import { counted } from '../observe/counted.js'
import { isCommitted } from '../observe/forecast.js'
import { sentenceOf } from '../observe/sentence.js'
import { statusErrorOf } from '../observe/status-error.js'
import type { QueryStatus, StatusError } from '../observe/status.js'
import { shownText } from './foreign-text.js'
import type { Glyphs } from './glyphs.js'
import { LEFT_AT, thereIs, thereIsAgain } from './left-at.js'
import type { Line, Span } from './line.js'
import type { Model } from './model.js'
import { type Hint, nextHints } from './next-hints.js'
import { isForetold } from './play-state.js'
import { asideRoom, firstThatFits, type Pane } from './pane.js'
import { clipLine, lineWidth, span, wrapSpans } from './spans.js'
import type { Subject } from './subject.js'

/** @param width of its lines @param height how many it has; the hints have the last one when all does not fit */
export function saidPane(subject: Subject, { model, width, height, glyphs }: { model: Model; width: number; height: number; glyphs: Glyphs }): Pane {
  const title: Line = [span('what just happened', 'title')]
  return { title, aside: firstThatFits(countsOf(subject), asideRoom(title, width)), lines: saidLines(subject, { model, width, height, glyphs }) }
}

export function saidLines(subject: Subject, { model, width, height, glyphs }: { model: Model; width: number; height: number; glyphs: Glyphs }): Line[] {
  const hints = hintLine(nextHints(subject, model), width, glyphs)
  const all = saidSpans(subject, model, glyphs)
  const whole = wrapSpans(all, width)
  // What happened and what is to be expected stand at the two ends.
  const text = fits(whole, hints, height, width)
    ? whole
    : wrapSpans(
        all.map(({ text: words, tone }) => span(withoutMiddle(words, glyphs), tone)),
        width,
      )
  if (hints.length === 0 || height < 2) return shortened(text, height, width, glyphs)
  if (text.length < height) return [...text, hints]
  const last = text.at(-1) ?? []
  if (fits(text, hints, height, width)) return [...text.slice(0, -1), [...last, span('  '), ...hints]]
  return [...shortened(text, height - 1, width, glyphs), hints]
}

/** With the hints in a line of their own, or behind the last words. */
function fits(text: readonly Line[], hints: Line, height: number, width: number): boolean {
  if (text.length < height || hints.length === 0) return text.length <= height
  return text.length === height && lineWidth(text.at(-1) ?? []) + 2 + lineWidth(hints) <= width
}

function withoutMiddle(text: string, { ellipsis }: Glyphs): string {
  const sentences = text.split(/(?<=[.!?]) (?=[A-Z])/)
  return sentences.length < 3 ? text : `${sentences[0]} ${ellipsis} ${sentences.at(-1)}`
}

/** All that is to be said, not yet in lines. */
export function saidSpans(subject: Subject, model: Model, glyphs: Glyphs): Line {
  const { view, state } = model
  const spans: Span[] = []
  for (const error of view?.status.errors ?? []) spans.push(span(`The workspace: ${shownText(errorText(error), glyphs.isAscii)} `, 'alarm'))
  spans.push(span(shownText(textOf(subject, state?.access === 'owner', isForetold(model)), glyphs.isAscii), 'said'))
  return spans
}

function textOf(subject: Subject, isOwner: boolean, isForetold: boolean): string {
  const { live, status, name, table, condition } = subject
  if (subject.isNewerThanView) {
    const { ending } = live
    if (ending?.error) return `${name} failed: ${errorText(ending.error)}`
    return `${name} ${ending?.kind === 'stopped' ? 'stopped' : 'is dead'}: looking at what it left on disk.`
  }
  if (status === null) return condition.name === 'unknown' ? 'Looking at what is on disk.' : `Nothing of ${name} is on disk yet.`
  if (live.heldAt !== null) return `${name} is held at ${live.heldAt.step} of batch ${live.heldAt.batchId}. On disk ${onDiskAt(live.heldAt, status)}.`
  if (live.process === 'running' && live.armed !== null && !live.isWaitingForSource)
    return `${name} dies the next time it reaches ${live.armed.step}.${isForetold ? ` It leaves ${LEFT_AT[live.armed.step]}.` : ''}`
  const sentence = sentenceOf(asItEnded(status, live), {
    idempotentNext: live.process === 'none' && isOwner && live.info.mode !== null ? live.idempotent : null,
    isForetold,
  })
  if (sentence !== null) return sentence.startsWith(name) ? sentence : capital(sentence)
  const error = status.lastError ?? table?.error ?? null
  if (error !== null) return `${name}: ${errorText(error)}`
  if (condition.name === 'waiting') return `${name} waits for ${sourceOf(subject)}, which is not there yet.`
  if (status.reasons.length > 0) return `${status.reasons.join('. ')}.`
  return calm(subject)
}

/** A batch that the disk knows already runs again, and what its earlier attempts left is still there. */
function onDiskAt({ step, batchId, attempt }: StepEvent, status: QueryStatus): string {
  if (status.batchId !== batchId) return thereIs(step)
  return thereIsAgain(step, status.batchAttempts.findLast((one) => isCommitted(one) && one.attempt < attempt)?.attempt ?? null)
}

/** A process that could not write why it failed looks like one that was killed; who started it knows better. */
function asItEnded(status: QueryStatus, { process, ending }: Subject['live']): QueryStatus {
  if (process !== 'none' || ending?.kind !== 'failed' || ending.error === null || status.state !== 'killed') return status
  return { ...status, state: 'failed', lastError: statusErrorOf(errorFrom({ ...ending.error, stack: null })) }
}

/** Of a query that works, or has done what there was to do. */
function calm(subject: Subject): string {
  const { status, name, tableName } = subject
  if (status === null || status.batchId === null) return `${name} has not run a batch yet.`
  if (status.verdict === 'empty' && status.commits[0] !== undefined && subject.table === null && status.honoursIdempotence === false)
    return `Batch ${status.commits[0]} of ${name} is committed, and there is no table ${tableName}. If ${name} writes another one, { table: NAME } in its config says which.`
  if (status.verdict !== 'exactly-once')
    return status.commits[0] === undefined ? `${name} has not committed a batch yet.` : `Batch ${status.commits[0]} of ${name} is committed.`
  if (status.mode === 'MERGE') return `${tableName} has the newest row of each key of ${sourceOf(subject)}, up to batch ${status.commits[0] ?? status.batchId}.`
  return `Each row of ${sourceOf(subject)} up to batch ${status.commits[0] ?? status.batchId} is in ${tableName} exactly once.`
}

function sourceOf({ status, live }: Subject): string {
  const source = status?.source ?? live.info.source
  return source === null ? 'its source' : `${source.kind} ${source.name}`
}

function errorText({ message, hint }: Pick<StatusError, 'message' | 'hint'>): string {
  return `${/[.!?]$/.test(message) ? message : `${message}.`}${hint === null ? '' : ` ${capital(hint)}.`}`
}

/** `Next: s start it and see, i will not help now: …`, as many as fit. */
function hintLine(hints: readonly Hint[], width: number, glyphs: Glyphs): Line {
  const line: Span[] = []
  for (const { key, text } of hints) {
    const spans = [span(line.length === 0 ? 'Next: ' : ', ', 'said'), span(key, 'key'), span(` ${shownText(text, glyphs.isAscii, 100)}`, 'said')]
    if (line.length > 0 && lineWidth(line) + lineWidth(spans) > width) break
    line.push(...spans)
  }
  return clipLine(line, width, glyphs.ellipsis)
}

function shortened(lines: readonly Line[], height: number, width: number, { ellipsis }: Glyphs): Line[] {
  if (lines.length <= height) return [...lines]
  const kept = lines.slice(0, Math.max(0, height))
  const last = kept.pop()
  const next = lines[height]
  return last === undefined || next === undefined ? kept : [...kept, clipLine([...last, span(' '), ...next, span(' '.repeat(width))], width, ellipsis)]
}

function countsOf({ status }: Subject): string[] {
  if (status === null || status.replays === null || status.skips === null) return []
  const both = `${counted(status.replays, 'replay')}, ${counted(status.skips, 'skip')}`
  const all = status.attempts === null ? both : `${counted(status.attempts, 'attempt')}, ${both}`
  const { lostOffsets } = status
  if (lostOffsets === undefined || lostOffsets === null || lostOffsets === 0) return [all, both]
  const lost = `${counted(lostOffsets, 'offset')} lost`
  return [`${lost}, ${all}`, `${lost}, ${both}`, lost]
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1)
}
