/**
 * What a part of a scenario may look like: each shape reads a YAML node into a value or says what was expected there, and describes
 * itself as JSON schema. One source for the checker and for editors.
 */
import { isMap, isScalar, isSeq, type Node, type Pair } from 'yaml'

export type JsonSchema = Readonly<Record<string, unknown>>

/** What a row, an option or a record is made of. */
export type Scalar = string | number | boolean | null

export interface Shape<T> {
  /** What stands there when all is well, to go on after "expected": `the name of a query`. */
  readonly expected: string
  readonly schema: JsonSchema
  /** @throws what `place.refuse` throws */
  read(node: Node | null, place: Place): T
}

/** Where a value stands. */
export interface Place {
  /** The way to it from the top: `run.kill`. */
  readonly field: string
  /** A place below; `near` is where it is looked for when it is not there. */
  at(name: string, near: Node): Place
  refuse(node: Node | null, expected: string, found?: string): never
}

type Shapes = Readonly<Record<string, Shape<unknown>>>
type ValueOf<S> = S extends Shape<infer T> ? T : never
type EachOf<S extends Shapes> = { readonly [Name in keyof S]: ValueOf<S[Name]> }
type SomeOf<S extends Shapes> = { readonly [Name in keyof S]?: ValueOf<S[Name]> }

/** The same with a description for editors. */
export function about<T>(does: string, shape: Shape<T>): Shape<T> {
  return { ...shape, schema: { description: does, ...shape.schema } }
}

/** What was read, made into something else. */
export function turned<From, To>(shape: Shape<From>, turn: (value: From) => To): Shape<To> {
  return { ...shape, read: (node, place) => turn(shape.read(node, place)) }
}

/** A text on one or more lines, with something in it. */
export function text(expected: string, options: { readonly most: number; readonly pattern?: RegExp }): Shape<string> {
  const { most, pattern } = options
  return {
    expected,
    schema: { type: 'string', minLength: 1, maxLength: most, ...(pattern && { pattern: pattern.source }) },
    read(node, place) {
      const value = scalarOf(node)
      const isGood = typeof value === 'string' && value.trim() !== '' && value.length <= most && (pattern?.test(value) ?? true)
      return isGood ? value.trim() : place.refuse(node, expected)
    },
  }
}

export function whole(least: number, most: number): Shape<number> {
  const expected = `a whole number from ${least} to ${most}`
  return {
    expected,
    schema: { type: 'integer', minimum: least, maximum: most },
    read(node, place) {
      const value = scalarOf(node)
      return typeof value === 'number' && Number.isInteger(value) && value >= least && value <= most ? value : place.refuse(node, expected)
    },
  }
}

/** A number above 0, with a fraction or without. */
export function amount(most: number, of: string): Shape<number> {
  const expected = `${of} above 0, up to ${most}`
  return {
    expected,
    schema: { type: 'number', exclusiveMinimum: 0, maximum: most },
    read(node, place) {
      const value = scalarOf(node)
      return typeof value === 'number' && value > 0 && value <= most ? value : place.refuse(node, expected)
    },
  }
}

/** Exactly one of some values. */
export function oneOf<const T extends string | boolean | null>(values: readonly T[]): Shape<T> {
  const expected = values.length === 1 ? String(values[0]) : `one of ${values.join(', ')}`
  return {
    expected,
    schema: { enum: values },
    read(node, place) {
      const found = values.indexOf(scalarOf(node) as T)
      return found === -1 ? place.refuse(node, expected) : (values[found] as T)
    },
  }
}

/** Text, number, boolean or null. */
export const scalar: Shape<Scalar> = {
  expected: 'a text, a number, true, false or null',
  schema: { type: ['string', 'number', 'boolean', 'null'] },
  read(node, place) {
    const value = scalarOf(node)
    return value === undefined || (typeof value === 'number' && !Number.isFinite(value)) ? place.refuse(node, this.expected) : value
  },
}

/** @param items what is in it, in the plural */
export function list<T>(item: Shape<T>, items: string, least: number, most: number): Shape<readonly T[]> {
  const expected = `a list of ${least} to ${most} ${items}`
  return {
    expected,
    schema: { type: 'array', items: item.schema, minItems: least, maxItems: most },
    read(node, place) {
      if (!isSeq(node) || node.items.length < least || node.items.length > most) return place.refuse(node, expected)
      return node.items.map((entry, index) => item.read(entry as Node, place.at(`[${index}]`, node)))
    },
  }
}

/** Named values of a fixed kind, under names that the author gives. */
export function named<T>(value: Shape<T>, expected: string, names: RegExp, most: number): Shape<Readonly<Record<string, T>>> {
  return {
    expected,
    schema: { type: 'object', additionalProperties: value.schema, propertyNames: { pattern: names.source }, minProperties: 1, maxProperties: most },
    read(node, place) {
      const pairs = pairsOf(node)
      if (pairs === null || pairs.length === 0 || pairs.length > most) return place.refuse(node, expected)
      // From entries, so that a name such as __proto__ is one like any other.
      return Object.fromEntries(
        pairs.map(({ key, value: inner }) => {
          const name = String(scalarOf(key))
          if (!names.test(name)) return place.at(name, key).refuse(key, expected, name)
          return [name, value.read(inner, place.at(name, key))]
        }),
      )
    },
  }
}

/** A map with some fields that must be there and some that may. */
export function fields<R extends Shapes, O extends Shapes>(required: R, optional: O): Shape<EachOf<R> & SomeOf<O>> {
  const all = { ...required, ...optional }
  const names = Object.keys(all)
  const expected = `a map with ${names.join(', ')}`
  return {
    expected,
    schema: {
      type: 'object',
      properties: Object.fromEntries(Object.entries(all).map(([name, { schema }]) => [name, schema])),
      required: Object.keys(required),
      additionalProperties: false,
    },
    read(node, place) {
      const pairs = pairsOf(node)
      if (pairs === null) return place.refuse(node, expected)
      const values: Record<string, unknown> = {}
      for (const { key, value } of pairs) {
        const name = scalarOf(key)
        const shape = typeof name === 'string' && Object.hasOwn(all, name) ? all[name] : undefined
        if (shape === undefined) return place.at(String(name), key).refuse(key, oneOfNames(names), String(name))
        values[name as string] = shape.read(value, place.at(name as string, key))
      }
      for (const [name, shape] of Object.entries(required)) {
        if (!Object.hasOwn(values, name)) return place.at(name, node as Node).refuse(null, shape.expected)
      }
      return values as EachOf<R> & SomeOf<O>
    },
  }
}

/** A map with exactly one field, whose name says what it holds. */
export function oneField<S extends Shapes>(shapes: S, what: string): Shape<ValueOf<S[keyof S]>> {
  const names = Object.keys(shapes)
  const expected = `${what}: ${oneOfNames(names)}`
  return {
    expected,
    schema: {
      type: 'object',
      properties: Object.fromEntries(Object.entries(shapes).map(([name, { schema }]) => [name, schema])),
      minProperties: 1,
      maxProperties: 1,
      additionalProperties: false,
    },
    read(node, place) {
      const [pair, second] = pairsOf(node) ?? []
      if (pair === undefined) return place.refuse(node, expected)
      const name = scalarOf(pair.key)
      const shape = typeof name === 'string' && Object.hasOwn(shapes, name) ? shapes[name] : undefined
      if (shape === undefined) return place.at(String(name), pair.key).refuse(pair.key, expected, String(name))
      if (second !== undefined)
        return place.at(name as string, pair.key).refuse(second.key, 'one action a line', `${name} and ${String(scalarOf(second.key))} in one`)
      return shape.read(pair.value, place.at(name as string, pair.key)) as ValueOf<S[keyof S]>
    },
  }
}

/** A map whose kind is told by which of some fields it has. */
export function byField<S extends Shapes>(shapes: S): Shape<ValueOf<S[keyof S]>> {
  const names = Object.keys(shapes)
  const expected = `a map that names what is looked at: ${oneOfNames(names)}`
  return {
    expected,
    schema: { anyOf: Object.values(shapes).map(({ schema }) => schema) },
    read(node, place) {
      const pairs = pairsOf(node)
      if (pairs === null) return place.refuse(node, expected)
      const there = pairs.map(({ key }) => scalarOf(key))
      const name = names.find((one) => there.includes(one))
      if (name === undefined) return place.refuse(node, expected, there.length === 0 ? 'nothing' : there.join(', '))
      return (shapes[name] as Shape<unknown>).read(node, place) as ValueOf<S[keyof S]>
    },
  }
}

/** The short way to write something, or the long one: told apart by whether it is a map, a list or neither. */
export function either<S, L>(short: Shape<S>, long: Shape<L>, isLong: (node: Node | null) => boolean = isMap): Shape<S | L> {
  return {
    expected: `${short.expected}, or ${long.expected}`,
    schema: { anyOf: [short.schema, long.schema] },
    read(node, place) {
      if (isLong(node)) return long.read(node, place)
      // What is neither is told both.
      return short.read(node, { ...place, refuse: (at, _, found) => place.refuse(at, `${short.expected}, or ${long.expected}`, found) })
    },
  }
}

export function isNumber(node: Node | null): boolean {
  return typeof scalarOf(node) === 'number'
}

export function isList(node: Node | null): boolean {
  return isSeq(node)
}

/** The value of a scalar; undefined for anything else. */
function scalarOf(node: Node | null | undefined): Scalar | undefined {
  if (!isScalar(node)) return undefined
  const { value } = node
  return value === null || typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean' ? value : undefined
}

function pairsOf(node: Node | null): { readonly key: Node; readonly value: Node | null }[] | null {
  if (!isMap(node)) return null
  return (node.items as Pair<Node, Node | null>[]).map(({ key, value }) => ({ key, value }))
}

function oneOfNames(names: readonly string[]): string {
  return names.length === 1 ? String(names[0]) : `one of ${names.join(', ')}`
}

/** What stands at a node, for an error. */
export function foundAt(node: Node | null): string {
  if (isMap(node)) return 'a map'
  if (isSeq(node)) return node.items.length === 1 ? 'a list of 1' : `a list of ${node.items.length}`
  const value = scalarOf(node)
  if (value === undefined || value === null) return 'nothing'
  return typeof value === 'string' ? JSON.stringify(value.length > 60 ? `${value.slice(0, 60)}…` : value) : String(value)
}
