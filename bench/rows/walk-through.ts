/** The ten commands of the walk-through, each a process that starts cold, against ten starts of Node that do nothing. */
import { againstFloor, type Bench, type BenchContext, type Figure, median, withBudget } from '../figure.js'
import { CLI } from '../query-process.js'
import { timed } from '../timed-process.js'

const COMMANDS = [
  'produce --all',
  'run bronze_orders',
  'run events_copy --crash',
  'run events_copy',
  'reset events_copy',
  'drop events_copy',
  'run events_copy --idempotent --crash',
  'run events_copy --idempotent',
  'run orders --crash',
  'run orders',
]

export const walkThrough: Bench = {
  name: 'walk-through',
  async run({ isQuick, say, folder }: BenchContext): Promise<Figure[]> {
    const totals: number[] = []
    const floors: number[] = []
    for (let round = 0; round < (isQuick ? 2 : 5); round++) {
      const workspace = folder()
      let totalMs = 0
      let floorMs = 0
      const each: string[] = []
      for (const command of COMMANDS) {
        floorMs += timed(['-e', '0'], workspace).ms
        const { ms, output, status } = timed([CLI, ...command.split(' ')], workspace)
        if (status !== 0) throw new Error(`streamtop ${command} ended with ${status}: ${output}`)
        totalMs += ms
        each.push(`${command} ${ms.toFixed(0)}`)
      }
      say(`  ${each.join(', ')}`)
      totals.push(totalMs / 1_000)
      floors.push(floorMs / 1_000)
    }
    return [
      withBudget(
        againstFloor('the walk-through, 10 commands, cold', { value: median(totals), unit: 's' }, { what: '10 × node -e 0', value: median(floors) }, null),
        { atMost: 6 },
      ),
    ]
  },
}
