/** The actions of a scenario's script: what may stand in each line, and what it means. */
import { STEPS, type Step } from '../engine/steps.js'
import { PACES } from '../session/session-state.js'
import { expectation } from './expect-shapes.js'
import { COLUMN, queryName } from './name-shapes.js'
import { type ScriptAction, WAITED_FOR } from './scenario.js'
import { about, amount, either, fields, isList, isNumber, list, named, oneField, oneOf, scalar, type Shape, text, turned, whole } from './shape.js'

const OPTION = /^[A-Za-z][A-Za-z0-9.]{0,63}$/
const KILL = new RegExp(`^(${STEPS.join('|')})(:[1-9][0-9]?)?$`)
const CHECKPOINT_FILE = /^(metadata|offsets\/(0|[1-9][0-9]{0,8})|commits\/(0|[1-9][0-9]{0,8}))$/

const MOST_RECORDS = 200
const LONGEST_SAY = 1_000
const LONGEST_RECORD = 2_000
const LONGEST_WAIT_SECONDS = 60
const USUAL_PATIENCE_SECONDS = 30
const FASTEST_RATE = 1_000

const record: Shape<Readonly<Record<string, string | number | boolean | null>> | string | null> = either(
  {
    expected: 'a text that is sent as it is, null for a record without a value',
    schema: { type: ['string', 'null'], maxLength: LONGEST_RECORD },
    read(node, place) {
      const value = scalar.read(node, { ...place, refuse: (at) => place.refuse(at, this.expected) })
      return value === null || (typeof value === 'string' && value.length <= LONGEST_RECORD) ? value : place.refuse(node, this.expected)
    },
  },
  named(scalar, 'an order, as a map of fields', COLUMN, 40),
)

const produce = either(
  turned(either(oneOf(['all']), whole(1, 4), isNumber), (what): ScriptAction => {
    return { kind: 'produce', parts: what === 'all' ? [1, 2, 3, 4] : [what] }
  }),
  turned(list(record, 'records', 1, MOST_RECORDS), (records): ScriptAction => ({ kind: 'produce-records', records })),
  isList,
)

const kill = turned(text(`a step to die at, STEP or STEP:OCCURRENCE, of ${STEPS.join(', ')}`, { most: 40, pattern: KILL }), (words) => {
  const [step, occurrence] = words.split(':')
  return { step: step as Step, occurrence: Number(occurrence ?? 1) }
})

const run = either(
  turned(queryName, (query): ScriptAction => ({ kind: 'run', query, armed: null, idempotent: null, appId: null, sourceOptions: [], acceptGap: false })),
  turned(
    fields(
      { query: queryName },
      {
        kill: about('die at this step of its next batch', kill),
        idempotent: about('for this run alone', oneOf([true, false])),
        'app-id': about('of idempotent writes', text('an app id', { most: 128 })),
        options: about("of the source, as Spark's .option", named(scalar, 'a map of options and their values', OPTION, 20)),
        'accept-gap': about('take missing commits as done, as Spark does', oneOf([true, false])),
      },
    ),
    (given): ScriptAction => ({
      kind: 'run',
      query: given.query,
      armed: given.kill ?? null,
      idempotent: given.idempotent ?? null,
      appId: given['app-id'] ?? null,
      sourceOptions: Object.entries(given.options ?? {}).map(([key, value]) => `${key}=${value}`),
      acceptGap: given['accept-gap'] ?? false,
    }),
  ),
)

const wait = either(
  turned(amount(LONGEST_WAIT_SECONDS, 'seconds'), (seconds): ScriptAction => ({ kind: 'rest', seconds })),
  turned(
    fields({ query: queryName, until: oneOf(WAITED_FOR) }, { within: about('seconds', amount(LONGEST_WAIT_SECONDS, 'seconds')) }),
    ({ query, until, within }): ScriptAction => ({ kind: 'wait', query, until, withinSeconds: within ?? USUAL_PATIENCE_SECONDS }),
  ),
)

const generate = turned(
  either(oneOf(['off']), amount(FASTEST_RATE, 'orders a second'), isNumber),
  (rate): ScriptAction => ({ kind: 'generate', ratePerSecond: typeof rate === 'number' ? rate : 0 }),
)

/** One line of a script. */
export const scriptAction: Shape<ScriptAction> = oneField(
  {
    say: about(
      'A caption: what to look at, and why it is so.',
      turned(text(`a text of at most ${LONGEST_SAY} characters`, { most: LONGEST_SAY }), (words): ScriptAction => ({ kind: 'say', text: words })),
    ),
    produce: about('Sends orders: one of the four parts, all of them, or records of your own.', produce),
    generate: about('Generated orders a second, or off.', generate),
    run: about('Runs a query until it is caught up, or dead where it is to die.', run),
    start: about('Starts a query that goes on and on.', ofQuery('start')),
    stop: about('Stops a query after its batch.', ofQuery('stop')),
    kill: about('SIGKILL now.', ofQuery('kill')),
    arm: about(
      'Dies at this step of its next batch.',
      turned(fields({ query: queryName, step: oneOf(STEPS) }, {}), (given): ScriptAction => ({ kind: 'arm', ...given })),
    ),
    step: about('Holds a query, and lets it go one step each time.', ofQuery('step')),
    idempotent: about(
      'Idempotence on or off, from the next attempt on.',
      turned(fields({ query: queryName, on: oneOf([true, false]) }, {}), ({ query, on }): ScriptAction => ({ kind: 'idempotent', query, isOn: on })),
    ),
    replay: about('Takes the newest commit away: its batch runs again.', ofQuery('replay')),
    reset: about('Takes the checkpoint away: the query begins anew.', ofQuery('reset')),
    drop: about('Drops the tables that a query writes, and its checkpoint.', ofQuery('drop')),
    lose: about(
      'A file of a checkpoint is lost, as by a careless copy: metadata, offsets/N or commits/N.',
      turned(
        fields({ checkpoint: queryName, file: text('metadata, offsets/N or commits/N', { most: 20, pattern: CHECKPOINT_FILE }) }, {}),
        ({ checkpoint, file }): ScriptAction => ({ kind: 'lose', query: checkpoint, file }),
      ),
    ),
    wait: about('Seconds, or until a query is where it is waited for.', wait),
    expect: about(
      'What must be so now; after a line that fails, with what error.',
      turned(expectation, (met): ScriptAction => ({ kind: 'expect', expectation: met })),
    ),
    pause: about(
      'Holds every query at its next step, or lets all go on.',
      turned(oneOf([true, false]), (isOn): ScriptAction => ({ kind: 'pause', isOn })),
    ),
    pace: about(
      'How fast started queries go.',
      turned(oneOf(PACES.map(({ name }) => name)), (pace): ScriptAction => ({ kind: 'pace', pace })),
    ),
  },
  'an action',
)

function ofQuery<const K extends 'start' | 'stop' | 'kill' | 'step' | 'replay' | 'reset' | 'drop'>(kind: K): Shape<ScriptAction> {
  return turned(queryName, (query) => ({ kind, query }))
}
