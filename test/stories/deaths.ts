/**
 * Every death of a piece of work. The work is done once; at each point, before, in and after each change of a file and wherever the
 * work itself says so, the folder is copied as it lies there: what a SIGKILL at that point would have left. Copies that are the
 * same are one death.
 */
import { createHash } from 'node:crypto'
import { cpSync, existsSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Effects, realEffects } from '../../src/effects.js'
import type { Story } from './workspace.js'

export interface Death {
  /** The first of the points that left this. */
  readonly at: string
  readonly story: Story
}

/** What the work gets: a world in which each change is a point, and a way to say so of anything else. */
export interface Points {
  readonly fx: Effects
  point(what: string): void
}

/**
 * @param work done with the story, to its end
 * @param beside called at each point: what somebody sees who reads there at that moment
 * @param begin gives an empty story
 */
export async function deathsOf(story: Story, work: (points: Points) => Promise<void>, beside: (at: string) => void, begin: () => Story): Promise<Death[]> {
  const deaths = new Map<string, Death>()
  const point = (what: string) => {
    beside(what)
    const key = contentOf(story)
    if (deaths.has(key)) return
    const copy = begin()
    cpSync(story.folder, copy.folder, { recursive: true, filter: (path) => !path.endsWith('-shm') })
    deaths.set(key, { at: what, story: copy })
  }
  await work({ fx: effectsWithPoints(point), point })
  return [...deaths.values()]
}

function contentOf(story: Story): string {
  const hash = createHash('sha256')
  for (const [path, content] of Object.entries(story.files())) if (!path.endsWith('-shm')) hash.update(`${path}\0${content.length}\0`).update(content)
  return hash.digest('hex')
}

/** The world of a process that is dead: what it left says so. */
export const DEAD: Effects = { ...realEffects, processStart: (pid) => (pid === process.pid ? 'died' : realEffects.processStart(pid)) }

function effectsWithPoints(point: (what: string) => void): Effects {
  const { files } = realEffects
  const around = <Arguments extends unknown[], Result>(name: string, effect: (...given: Arguments) => Result) => {
    return (...given: Arguments): Result => {
      const what = `${name} ${shortOf(String(given[0]))}`
      point(`before ${what}`)
      const result = effect(...given)
      point(`after ${what}`)
      return result
    }
  }
  return {
    ...DEAD,
    files: {
      ...files,
      create(path, content, temporary) {
        const what = `create ${shortOf(path)}`
        if (temporary !== undefined) {
          writeFileSync(temporary, String(content).slice(0, content.length / 2))
          point(`in ${what}`)
          writeFileSync(temporary, content)
          point(`before the link of ${what}`)
          rmSync(temporary)
        }
        return around('create', files.create)(path, content, temporary)
      },
      async writeInHalves(path, content, atHalf) {
        await files.writeInHalves(path, content, async (sync) => {
          point(`in write ${shortOf(path)}`)
          await atHalf(sync)
        })
        point(`after write ${shortOf(path)}`)
      },
      makeFolder: around('makeFolder', files.makeFolder),
      remove: around('remove', files.remove),
      removeFolder(path) {
        const inside = existsSync(path) ? readdirSync(path, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile()) : []
        point(`before removeFolder ${shortOf(path)}`)
        for (const entry of inside.slice(0, inside.length >> 1)) rmSync(join(entry.parentPath, entry.name))
        point(`in removeFolder ${shortOf(path)}`)
        files.removeFolder(path)
        point(`after removeFolder ${shortOf(path)}`)
      },
      rename: around('rename', files.rename),
      syncFile: around('syncFile', files.syncFile),
    },
  }
}

/** The end of a path, without what is random in it. */
function shortOf(path: string): string {
  const name = path.split('/').slice(-3).join('/')
  return name.endsWith('.parquet') ? `a data file of ${path.split('/').at(-2)}` : name
}
