/** Names and rows, as a script and its expectations write them. */
import { named, scalar, text } from './shape.js'

/** As `names.ts` has it: nothing that leads out of the workspace. */
const NAME = /^(?!.*\.\.)[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}$/
export const COLUMN = /^.{1,128}$/

export const queryName = text('the name of a query', { most: 128, pattern: NAME })
export const tableName = text('the name of a table', { most: 128, pattern: NAME })
export const topicName = text('the name of a topic', { most: 128, pattern: NAME })
export const rowValues = named(scalar, 'a map of columns and their values', COLUMN, 40)
