/**
 * Comparing values where they lie, without taking them out of their columns. Order and equality are Spark's: strings by their UTF-8
 * bytes, NaN equal to itself and above every number, -0.0 equal to 0.0. Neither function looks at nulls: ask `isNull` first.
 */
import { StreamtopError } from '../errors.js'
import type { Vector } from './columns.js'
import { typeName } from './schema.js'

/** Whether the left row's value equals the right row's. */
export type RowEquality = (left: number, right: number) => boolean

/** Below, at or above zero as the left row's value is before, equal to or after the right row's. */
export type RowOrder = (left: number, right: number) => number

export function isNull(vector: Vector, row: number): boolean {
  return vector.nulls !== undefined && vector.nulls[row] === 1
}

/** Equality of the values of two vectors of one type; `schema-mismatch` when their types differ. */
export function equalityOf(left: Vector, right: Vector): RowEquality {
  requireSameType(left, right)
  switch (left.column.type.kind) {
    case 'byte':
    case 'short':
    case 'integer':
    case 'date':
    case 'boolean': {
      const leftValues = left.values as Int32Array
      const rightValues = right.values as Int32Array
      return (leftRow, rightRow) => leftValues[leftRow] === rightValues[rightRow]
    }
    case 'long':
    case 'timestamp': {
      const leftValues = left.values as BigInt64Array
      const rightValues = right.values as BigInt64Array
      return (leftRow, rightRow) => leftValues[leftRow] === rightValues[rightRow]
    }
    case 'decimal': {
      const leftValues = left.values as BigInt64Array
      const rightValues = right.values as BigInt64Array
      return (leftRow, rightRow) => leftValues[2 * leftRow] === rightValues[2 * rightRow] && leftValues[2 * leftRow + 1] === rightValues[2 * rightRow + 1]
    }
    case 'float':
    case 'double': {
      const order = orderOf(left, right)
      return (leftRow, rightRow) => order(leftRow, rightRow) === 0
    }
    case 'string':
    case 'binary': {
      const leftBytes = left.values as Uint8Array
      const rightBytes = right.values as Uint8Array
      const leftOffsets = left.offsets ?? new Int32Array(1)
      const rightOffsets = right.offsets ?? new Int32Array(1)
      return (leftRow, rightRow) => {
        const leftStart = leftOffsets[leftRow] as number
        const rightStart = rightOffsets[rightRow] as number
        const length = (leftOffsets[leftRow + 1] as number) - leftStart
        if (length !== (rightOffsets[rightRow + 1] as number) - rightStart) return false
        for (let index = 0; index < length; index++) if (leftBytes[leftStart + index] !== rightBytes[rightStart + index]) return false
        return true
      }
    }
  }
}

/** Order of the values of two vectors of one type; `schema-mismatch` when their types differ. */
export function orderOf(left: Vector, right: Vector): RowOrder {
  requireSameType(left, right)
  switch (left.column.type.kind) {
    case 'byte':
    case 'short':
    case 'integer':
    case 'date':
    case 'boolean': {
      const leftValues = left.values as Int32Array
      const rightValues = right.values as Int32Array
      return (leftRow, rightRow) => (leftValues[leftRow] as number) - (rightValues[rightRow] as number)
    }
    case 'long':
    case 'timestamp': {
      const leftValues = left.values as BigInt64Array
      const rightValues = right.values as BigInt64Array
      return (leftRow, rightRow) => compare(leftValues[leftRow] as bigint, rightValues[rightRow] as bigint)
    }
    case 'decimal': {
      const leftValues = left.values as BigInt64Array
      const rightValues = right.values as BigInt64Array
      return (leftRow, rightRow) => {
        const byHighWord = compare(leftValues[2 * leftRow + 1] as bigint, rightValues[2 * rightRow + 1] as bigint)
        if (byHighWord !== 0) return byHighWord
        return compare(BigInt.asUintN(64, leftValues[2 * leftRow] as bigint), BigInt.asUintN(64, rightValues[2 * rightRow] as bigint))
      }
    }
    case 'float':
    case 'double': {
      const leftValues = left.values as Float64Array
      const rightValues = right.values as Float64Array
      return (leftRow, rightRow) => compareDoubles(leftValues[leftRow] as number, rightValues[rightRow] as number)
    }
    case 'string':
    case 'binary': {
      const leftBytes = left.values as Uint8Array
      const rightBytes = right.values as Uint8Array
      const leftOffsets = left.offsets ?? new Int32Array(1)
      const rightOffsets = right.offsets ?? new Int32Array(1)
      return (leftRow, rightRow) => {
        const leftStart = leftOffsets[leftRow] as number
        const rightStart = rightOffsets[rightRow] as number
        const leftLength = (leftOffsets[leftRow + 1] as number) - leftStart
        const rightLength = (rightOffsets[rightRow + 1] as number) - rightStart
        const shared = Math.min(leftLength, rightLength)
        for (let index = 0; index < shared; index++) {
          const difference = (leftBytes[leftStart + index] as number) - (rightBytes[rightStart + index] as number)
          if (difference !== 0) return difference
        }
        return leftLength - rightLength
      }
    }
  }
}

/** Spark's order of doubles. */
export function compareDoubles(left: number, right: number): number {
  if (left < right) return -1
  if (left > right) return 1
  if (left === right) return 0
  return (Number.isNaN(left) ? 1 : 0) - (Number.isNaN(right) ? 1 : 0)
}

function compare(left: bigint, right: bigint): number {
  return left < right ? -1 : left > right ? 1 : 0
}

function requireSameType(left: Vector, right: Vector): void {
  const leftType = left.column.type
  const rightType = right.column.type
  if (leftType.kind === rightType.kind && (leftType.kind !== 'decimal' || rightType.kind !== 'decimal' || leftType.scale === rightType.scale)) return
  throw new StreamtopError(
    'schema-mismatch',
    `${left.column.name} is ${typeName(leftType)} on one side and ${typeName(rightType)} on the other: they cannot be compared`,
    { condition: 'DATATYPE_MISMATCH.BINARY_OP_DIFF_TYPES' },
  )
}
