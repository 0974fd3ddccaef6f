/** What `matrix` does: plays the deaths that were asked for, and prints what came of them. */
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onExit } from 'signal-exit'
import { asStreamtopError, StreamtopError } from '../errors.js'
import { type Death, deathsOf, stepText } from '../matrix/deaths.js'
import { embeddedOrders, kafkaOrders, type OrdersTopic } from '../matrix/orders-topic.js'
import { type PlayedDeath, playMatrix } from '../matrix/play-matrix.js'
import { WAYS } from '../matrix/ways.js'
import { safeJson, safeText } from '../safe-text.js'
import type { MatrixVerbOptions } from './matrix.js'
import { matrixJson, matrixText } from './matrix-text.js'
import { removeIfPossible } from './remove-if-possible.js'
import type { Context, Output } from './verb.js'

/** @returns 0 when every row is right, 1 when one is not */
export async function printMatrix(context: Context<MatrixVerbOptions>): Promise<number> {
  const { options, output, json, fx } = context
  const deaths = chosenDeaths(context)
  const folder = join(tmpdir(), `streamtop-matrix-${fx.randomUuid().slice(0, 8)}`)
  const topic = context.kafka === null ? embeddedOrders(fx) : await kafkaOrders(context.kafka, fx)
  // Also when a second ctrl-c ends the process on the spot: after its children were killed.
  const forget = onExit(() => removeIfPossible(folder, fx), { alwaysLast: true })
  let played: PlayedDeath[] = []
  try {
    played = await playDeaths(deaths, folder, topic, context)
  } finally {
    forget()
    if (!played.some(({ workspace }) => workspace !== null)) removeIfPossible(folder, fx)
    await removeTopic(topic, context)
  }
  output.stdout(json ? `${safeJson(matrixJson(played, topic.onKafka), 2)}\n` : matrixText(played, widthOf(output)))
  if (options.keep && !json) output.stderr(`the workspaces are left for a look: ${safeText(folder)}\n`)
  return played.every(({ problem }) => problem === null) ? 0 : 1
}

function chosenDeaths({ isWorkspaceGiven, configFile, kafka, adopt, options }: Context<MatrixVerbOptions>): Death[] {
  const refuse = (problem: string, hint: string) => {
    throw new StreamtopError('usage', problem, { hint })
  }
  if (isWorkspaceGiven) refuse('a matrix has temporary workspaces of its own', 'leave --workspace out; --keep leaves them for a look')
  if (configFile !== null) refuse('a matrix has queries of its own', 'leave --config out')
  if (adopt) refuse('a matrix has nothing to adopt', 'leave --adopt out')
  const ofTable = options.way?.filter((name) => name !== NATIVE) ?? []
  if (kafka !== null && ofTable.length > 0)
    refuse(`with --kafka a matrix has the native sink alone, and --way ${ofTable[0]} reads a table`, 'leave --kafka out for the ways that read a table')
  const names = kafka === null ? options.way : [NATIVE]
  return WAYS.filter(({ name }) => names?.includes(name) ?? true)
    .flatMap(deathsOf)
    .filter(({ step }) => options.step?.includes(step) ?? true)
}

/** The one way that reads a topic. */
const NATIVE = 'native'

/** Clears the terminal's line from the cursor on. */
const CLEAR = '\r\u001b[K'

async function playDeaths(deaths: readonly Death[], folder: string, topic: OrdersTopic, context: Context<MatrixVerbOptions>): Promise<PlayedDeath[]> {
  const { options, output, signal, fx } = context
  const isTold = output.stderrIsTerminal
  const onProgress = (done: number, next: Death) => {
    if (isTold) output.stderr(`${CLEAR}${done} of ${deaths.length}: ${next.way.title}, killed at ${stepText(next)}`)
  }
  try {
    return await playMatrix({ deaths, folder, topic, isKept: options.keep ?? false, onProgress, signal }, fx)
  } finally {
    if (isTold) output.stderr(CLEAR)
  }
}

const NARROW = 80

function widthOf({ stdoutIsTerminal }: Output): number {
  return stdoutIsTerminal && process.stdout.columns > 0 ? process.stdout.columns : NARROW
}

/** What was found is worth more than a topic that stays. */
async function removeTopic(topic: OrdersTopic, { output }: Context): Promise<void> {
  try {
    await topic.remove()
  } catch (error) {
    output.stderr(`topic ${topic.onKafka?.name} was not removed: ${safeText(asStreamtopError(error).message)}\n`)
  }
}
