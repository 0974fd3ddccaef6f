/** Power lost while records are sent to the embedded topic: what a producer was told to be there is there, and more can be sent. */
import { mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { realEffects } from '../../src/effects.js'
import { partRecords } from '../../src/queries/order-parts.js'
import { openEmbeddedProducer } from '../../src/topic/embedded-producer.js'
import type { Recording } from './disk.js'
import { describeLoss, diskLeft, type PowerLoss } from './legal-disks.js'
import { memoryFolder } from './lose-power.js'
import { recordWork, type Tell } from './recorder.js'

const RECORDS_OF_PART = 2
const PARTS = [2, 3]

/** Records a producer that makes the topic and sends two parts. */
export function recordSends(): Promise<Recording> {
  return inFolder((folder) => recordWork(folder, (tell) => sendParts(folder, tell)))
}

/** Records a second producer, after the first was killed when so many effects of its recording were done. */
export function recordSendsAfterDeath(recording: Recording, count: number): Promise<Recording> {
  return inFolder((folder) => {
    diskLeft(recording, { count, losses: new Map() }).write(folder)
    return recordWork(folder, (tell) => sendParts(folder, tell), { recording, count })
  })
}

/** Sends again on what a loss of power left. Gives what is wrong, as sentences. */
export function sendAgain(recording: Recording, loss: PowerLoss): Promise<string[]> {
  return inFolder(async (folder) => {
    diskLeft(recording, loss).write(folder)
    const told = recording.effects.slice(0, loss.count).filter(({ kind }) => kind === 'told').length * RECORDS_OF_PART
    try {
      const before = await endOf(folder)
      if (before < told) return [`${describeLoss(recording, loss)}: ${told} records were sent, ${before} are there`]
      await sendParts(folder, () => {})
      const after = await endOf(folder)
      return after === before + PARTS.length * RECORDS_OF_PART ? [] : [`${describeLoss(recording, loss)}: from ${before} records it went to ${after}`]
    } catch (error) {
      return [`${describeLoss(recording, loss)}: ${(error as Error).message}`]
    }
  })
}

async function sendParts(folder: string, tell: Tell): Promise<void> {
  const producer = openEmbeddedProducer(folder, 'orders', {}, realEffects)
  for (const part of PARTS) {
    await producer.send(partRecords(part))
    tell(`part ${part} is sent`, () => false)
  }
  await producer.close()
}

async function endOf(folder: string): Promise<number> {
  const producer = openEmbeddedProducer(folder, 'orders', {}, realEffects)
  const end = Number(producer.endOffsets().get(0) ?? 0n)
  await producer.close()
  return end
}

async function inFolder<T>(work: (folder: string) => Promise<T>): Promise<T> {
  const folder = mkdtempSync(join(memoryFolder(), 'streamtop-power-'))
  try {
    return await work(folder)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
