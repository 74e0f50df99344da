import type { TSchema } from 'typebox'
import type { Resource } from '../door/service.ts'
import type { Document } from '../door/stream.ts'
import { isInt64 } from '../lib/values/int64.ts'
import type { IndexKey } from '../read-models/document.ts'
import { valuesOf } from './filter-values.ts'

/** Code points of the longest text that an index has. */
export const indexedMax = 128
/** How many ranges of an index one list may be made of. */
export const rangesMax = 16

type Declared = Pick<Resource, 'filters' | 'together'>

/** The indexes of a collection. */
export interface Indexes {
  /** Where a document with these values is found. A value that no index has is left out. */
  keysOf(values: NonNullable<Document['filters']>): readonly IndexKey[]
  /**
   * Where to find the documents with these values, which are at one of the keys each. Undefined where the filters do not go
   * together.
   */
  keysFor(values: Readonly<Record<string, string>>): readonly IndexKey[] | undefined
}

export function indexesOf(declared: Declared): Indexes {
  const { filters = {} } = declared
  const kinds = new Map(
    Object.entries(filters).map(([name, filter]) => [
      name,
      isEnumeration(filter) ? enumeration(name) : anyValue(name, enumerationsBeside(declared, name)),
    ]),
  )
  return {
    keysOf(values) {
      const keys: IndexKey[] = []
      for (const name in values) {
        const key = (kinds.get(name) ?? enumeration(name)).keyOf(values)
        if (key !== undefined) keys.push(key)
      }
      return keys
    },
    keysFor(values) {
      const names = Object.keys(values)
      const first = names.find((name) => isAnyValue(filters[name])) ?? names[0]
      return first === undefined ? undefined : kinds.get(first)?.keysFor(values)
    },
  }
}

/** A filter without values of its own: an integer or a text. */
export function isAnyValue(filter: TSchema | undefined): boolean {
  return filter !== undefined && !isEnumeration(filter)
}

function isEnumeration(filter: TSchema): boolean {
  return 'enum' in filter
}

/** The type that JSON Schema has for its values. */
export function typeOf(filter: TSchema): unknown {
  return (filter as { readonly type?: unknown }).type
}

/** The enumerations that a filter of any value goes together with, and their values. */
export function enumerationsBeside({ filters = {}, together = [] }: Declared, name: string): Enumeration[] {
  const beside = together.find((names) => names.includes(name))?.filter((each) => each !== name) ?? []
  return beside.map((each) => ({ name: each, values: valuesOf(filters[each] ?? {}) }))
}

interface Enumeration {
  readonly name: string
  readonly values: readonly string[]
}

type Values = NonNullable<Document['filters']>

interface FilterIndex {
  keyOf(values: Values): IndexKey | undefined
  keysFor(values: Readonly<Record<string, string>>): readonly IndexKey[] | undefined
}

/** Each value has a set of its own. */
function enumeration(name: string): FilterIndex {
  const keyOf = (value: unknown) => `${name}:${value}`
  return {
    keyOf: ({ [name]: value }) => (value === undefined ? undefined : keyOf(value)),
    keysFor: (values) => (Object.keys(values).length === 1 ? [keyOf(values[name])] : undefined),
  }
}

/** A key has the value and one of each enumeration beside it, or nothing where a document has none. */
function anyValue(name: string, beside: readonly Enumeration[]): FilterIndex {
  return {
    keyOf(values) {
      const text = indexedText(values[name])
      if (text === undefined) return undefined
      let key = valueKey(name, text)
      for (const each of beside)
        key += enumerated(each.values.includes(String(values[each.name])) ? values[each.name] : '')
      return key
    },
    keysFor(values) {
      const text = indexedText(values[name])
      const known = [name, ...beside.map((each) => each.name)]
      if (text === undefined || !Object.keys(values).every((each) => known.includes(each))) return undefined
      let keys = [valueKey(name, text)]
      for (const each of beside) {
        const asked = values[each.name]
        const chosen = asked === undefined ? [...each.values, ''] : [asked]
        keys = keys.flatMap((key) => chosen.map((value) => key + enumerated(value)))
      }
      return keys
    },
  }
}

/** With the length in front none is the beginning of another. */
function valueKey(name: string, text: string): IndexKey {
  return `${name}=${text.length}:${text}`
}

/** Values of enumerations have no space. */
function enumerated(value: unknown): string {
  return `${value} `
}

/**
 * The one spelling of a value that an index has: an int64, or a text of 1 to `indexedMax` code points without NUL and lone
 * surrogates. Undefined of any other value.
 */
export function indexedText(value: unknown): string | undefined {
  if (typeof value !== 'string') return isInt64(value) ? String(value) : undefined
  const isText = value !== '' && value.length <= 2 * indexedMax && value.isWellFormed() && !value.includes('\0')
  return isText && (value.length <= indexedMax || [...value].length <= indexedMax) ? value : undefined
}

/**
 * What tells the declared indexes of services apart, for the version of the read models; '' if there is none. The order of a
 * declaration says nothing. Values of an enumeration have a set each, declared or not: they matter beside another filter alone.
 */
export function declaredIndexes(resources: Readonly<Record<string, Declared>>): string {
  const declared = Object.entries(resources).flatMap(([collection, resource]) =>
    Object.entries(resource.filters ?? {}).map(([name, filter]) =>
      isAnyValue(filter)
        ? [collection, name, typeOf(filter), enumerationsBeside(resource, name)]
        : [collection, name, 'enumeration'],
    ),
  )
  return declared.length === 0 ? '' : JSON.stringify(declared.map((each) => JSON.stringify(each)).sort())
}
