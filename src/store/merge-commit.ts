/** What `commitInfo` says of a MERGE, in Delta's words (DeltaOperations.Merge; measured with Delta 4.4: keys and their order are its own). */
import type { MergeCounts } from './merge.js'
import { type Clause, clausesOf, type MatchedCondition, type MergeSpec } from './merge-spec.js'
import type { Schema } from './schema.js'

/** What source and target are called in the texts of conditions. */
export interface MergeAliases {
  readonly source: string
  readonly target: string
}

export interface MergeWork {
  readonly filesAdded: number
  readonly filesRemoved: number
  readonly bytesAdded: number
  readonly bytesRemoved: number
  /** The whole MERGE, the search for matches, and the writing of files. */
  readonly executionTimeMs: number
  readonly scanTimeMs: number
  readonly rewriteTimeMs: number
}

/** `operationParameters`: JSON texts. Columns are named as the table names them. */
export function mergeOperation(spec: MergeSpec, schema: Schema, aliases: MergeAliases = { source: 's', target: 't' }): Record<string, string> {
  const { on, matched, notMatched } = clausesOf(spec)
  const name = (column: string) => schema.columns.find((known) => known.name.toLowerCase() === column.toLowerCase())?.name ?? column
  const equalities = on.map((column) => `(${aliases.target}.${name(column)} = ${aliases.source}.${name(column)})`)
  const predicate = equalities.reduce((left, right) => `(${left} AND ${right})`)
  const textOf = (clause: Clause<string, MatchedCondition>) => {
    if (clause.text !== null) return clause.text
    if (clause.when === null || typeof clause.when === 'function') return '(a function)'
    return `(${aliases.source}.${name(clause.when.newer)} > ${aliases.target}.${name(clause.when.newer)})`
  }
  const clausesText = (clauses: readonly Clause<string, MatchedCondition>[]) =>
    JSON.stringify(clauses.map((clause) => (clause.when === null ? { actionType: clause.action } : { predicate: textOf(clause), actionType: clause.action })))
  return {
    predicate: JSON.stringify([predicate]),
    matchedPredicates: clausesText(matched),
    notMatchedPredicates: clausesText(notMatched as readonly Clause<string, MatchedCondition>[]),
    notMatchedBySourcePredicates: '[]',
  }
}

/** `operationMetrics`: every key that Delta writes for a MERGE, its number as a text. */
export function mergeMetrics(counts: MergeCounts, work: MergeWork): Record<string, string> {
  return {
    numTargetRowsCopied: String(counts.copied),
    numTargetRowsDeleted: String(counts.deleted),
    numTargetBytesRemoved: String(work.bytesRemoved),
    numTargetDeletionVectorsAdded: '0',
    numTargetRowsMatchedUpdated: String(counts.updated),
    numTargetRowsMatchedDeleted: String(counts.deleted),
    numTargetRowsUpdated: String(counts.updated),
    numTargetChangeFilesAdded: '0',
    numTargetRowsNotMatchedBySourceDeleted: '0',
    rewriteTimeMs: String(work.rewriteTimeMs),
    numTargetFilesAdded: String(work.filesAdded),
    numTargetBytesAdded: String(work.bytesAdded),
    executionTimeMs: String(work.executionTimeMs),
    materializeSourceTimeMs: '0',
    numTargetRowsInserted: String(counts.inserted),
    numTargetDeletionVectorsUpdated: '0',
    scanTimeMs: String(work.scanTimeMs),
    numOutputRows: String(counts.copied + counts.updated + counts.inserted),
    numTargetDeletionVectorsRemoved: '0',
    numTargetRowsNotMatchedBySourceUpdated: '0',
    numSourceRows: String(counts.sourceRows),
    numTargetFilesRemoved: String(work.filesRemoved),
  }
}
