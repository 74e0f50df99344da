import { valuesOf } from '../definition/filter-values.ts'
import { indexesOf, isAnyValue } from '../definition/indexes.ts'
import type { NamedResource } from '../definition/kinds.ts'
import { listed } from '../definition/words.ts'
import { setName } from '../read-models/document.ts'
import { type CommandResult, table } from './output.ts'

type Counted = Pick<NamedResource, 'collection' | 'filters'>
type Sizes = readonly (readonly [name: string, size: number])[]

interface Counts {
  readonly collection: string
  readonly total: number
  readonly enumerations: readonly (readonly [filter: string, sizes: Sizes])[]
  /** Entries of the index of each filter of any value. */
  readonly indexes: Sizes
}

export function statsSummary(resources: readonly Counted[]): string {
  const names = namesIn(resources.flatMap(({ filters }) => enumerationsIn(filters)))
  const by = names.length === 0 ? '' : `, by ${listed(names, 'and')}`
  const collections = resources.map(({ collection }) => collection)
  return `Show how many ${listed(collections, 'and')} there are${by}`
}

/** `sizeOf`: of a set of documents. */
export function describeStats(resources: readonly Counted[], sizeOf: (set: string) => number): CommandResult {
  const counted = resources.map(({ collection, filters = {} }): Counts => {
    const { keysFor } = indexesOf({ filters })
    const sizeBy = (name: string, value: string) => sizeOf(setName(collection, keysFor({ [name]: value })?.[0]))
    const anyValues = Object.keys(filters).filter((name) => isAnyValue(filters[name]))
    return {
      collection,
      total: sizeOf(collection),
      enumerations: enumerationsIn(filters).map(([name, values]) => [
        name,
        values.map((value) => [value, sizeBy(name, value)]),
      ]),
      indexes: anyValues.map((name) => [name, sizeBy(name, '0')]), // whichever value, it is in the one set
    }
  })
  return { json: Object.fromEntries(counted.map((each) => [each.collection, inJson(each)])), text: inText(counted) }
}

/** The values of one filter stand beside the total. Those of several would be taken for each other's. */
function inJson({ total, enumerations, indexes }: Counts): object {
  const entries = indexes.length === 0 ? {} : { indexes: Object.fromEntries(indexes) }
  const [[, only = []] = [], ...others] = enumerations
  if (others.length === 0 && only.every(([value]) => value !== 'total' && value !== 'indexes'))
    return { total, ...Object.fromEntries(only), ...entries }
  const by = Object.fromEntries(enumerations.map(([filter, sizes]) => [filter, Object.fromEntries(sizes)]))
  return { total, by, ...entries }
}

function inText(counted: readonly Counts[]): string {
  const indexes = counted.flatMap(({ collection, indexes }) =>
    indexes.map(([name, size]) => [collection, name, String(size)]),
  )
  const documents = documentsInText(counted)
  return indexes.length === 0 ? documents : `${documents}\n\n${table(['', 'INDEX', 'ENTRIES'], indexes)}`
}

/** The filter has a column where they are not all the same one. */
function documentsInText(counted: readonly Counts[]): string {
  const [name = '', ...others] = namesIn(counted.flatMap(({ enumerations }) => enumerations))
  const isOne = others.length === 0
  const rows = counted.flatMap(({ collection, total, enumerations }) => [
    [collection, ...(isOne ? [] : ['']), 'total', String(total)],
    ...enumerations.flatMap(([filter, sizes]) =>
      sizes.map(([value, size]) => [collection, ...(isOne ? [] : [filter]), value, String(size)]),
    ),
  ])
  return table(['', ...(isOne ? [name.toUpperCase()] : ['FILTER', 'VALUE']), 'COUNT'], rows)
}

function enumerationsIn(filters: Counted['filters'] = {}): (readonly [name: string, values: readonly string[]])[] {
  return Object.entries(filters).flatMap(([name, filter]) => (isAnyValue(filter) ? [] : [[name, valuesOf(filter)]]))
}

function namesIn(named: readonly (readonly [name: string, ...unknown[]])[]): readonly string[] {
  return [...new Set(named.map(([name]) => name))]
}
