/** The actions of a scenario's script: what may stand in each line, and what it means. */
import { STEPS, type Step } from '../engine/steps.js'
import { type ScriptVerb, scriptForm } from '../session/actions.js'
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

/** One line of a script: each verb of the table of actions. */
export const scriptAction: Shape<ScriptAction> = oneField(
  {
    ...verb(
      'say',
      turned(text(`a text of at most ${LONGEST_SAY} characters`, { most: LONGEST_SAY }), (words): ScriptAction => ({ kind: 'say', text: words })),
    ),
    ...verb('produce', produce),
    ...verb('generate', generate),
    ...verb('run', run),
    ...ofQuery('start'),
    ...ofQuery('stop'),
    ...ofQuery('kill'),
    ...verb(
      'arm',
      turned(fields({ query: queryName, step: oneOf(STEPS) }, {}), (given): ScriptAction => ({ kind: 'arm', ...given })),
    ),
    ...ofQuery('step'),
    ...verb(
      'idempotent',
      turned(fields({ query: queryName, on: oneOf([true, false]) }, {}), ({ query, on }): ScriptAction => ({ kind: 'idempotent', query, isOn: on })),
    ),
    ...ofQuery('replay'),
    ...ofQuery('reset'),
    ...ofQuery('drop'),
    ...verb(
      'lose',
      turned(
        fields({ checkpoint: queryName, file: text('metadata, offsets/N or commits/N', { most: 20, pattern: CHECKPOINT_FILE }) }, {}),
        ({ checkpoint, file }): ScriptAction => ({ kind: 'lose', query: checkpoint, file }),
      ),
    ),
    ...verb('wait', wait),
    ...verb(
      'expect',
      turned(expectation, (met): ScriptAction => ({ kind: 'expect', expectation: met })),
    ),
    ...verb(
      'pause',
      turned(oneOf([true, false]), (isOn): ScriptAction => ({ kind: 'pause', isOn })),
    ),
    ...verb(
      'pace',
      turned(oneOf(PACES.map(({ name }) => name)), (pace): ScriptAction => ({ kind: 'pace', pace })),
    ),
  } satisfies Record<ScriptVerb, Shape<ScriptAction>>,
  'an action',
)

/** A verb with what stands behind it; what it does is said in the table of actions. */
function verb<const V extends ScriptVerb>(name: V, shape: Shape<ScriptAction>): { readonly [Name in V]: Shape<ScriptAction> } {
  const { does } = scriptForm(name)
  const sentence = `${does.charAt(0).toUpperCase()}${does.slice(1).replaceAll('`', '')}.`
  return { [name]: about(sentence, shape) } as { readonly [Name in V]: Shape<ScriptAction> }
}

function ofQuery<const K extends 'start' | 'stop' | 'kill' | 'step' | 'replay' | 'reset' | 'drop'>(kind: K): { readonly [Name in K]: Shape<ScriptAction> } {
  return verb(
    kind,
    turned(queryName, (query) => ({ kind, query })),
  )
}
