import { valuesOf } from '../definition/filter-values.ts'
import { indexesOf } from '../definition/indexes.ts'
import type { NamedResource } from '../definition/kinds.ts'
import { listed } from '../definition/words.ts'
import { setName } from '../read-models/document.ts'
import { type CommandResult, table } from './output.ts'

type Counted = Pick<NamedResource, 'collection' | 'filters'>

export function statsSummary(resources: readonly Counted[]): string {
  const filters = filtersOf(resources)
  const by = filters.length === 0 ? '' : `, by ${listed(filters, 'and')}`
  const collections = resources.map(({ collection }) => collection)
  return `Show how many ${listed(collections, 'and')} there are${by}`
}

/** `sizeOf`: of a set of documents. */
export function describeStats(resources: readonly Counted[], sizeOf: (set: string) => number): CommandResult {
  const counted = resources.map(({ collection, filters = {} }) => ({
    collection,
    total: sizeOf(collection),
    counts: Object.entries(filters).map(([filter, values]) => {
      const sizes = valuesOf(values).map(
        (value) =>
          [value, sizeOf(setName(collection, indexesOf({ filters }).keysFor({ [filter]: value })?.[0]))] as const,
      )
      return [filter, sizes] as const
    }),
  }))
  return { json: Object.fromEntries(counted.map((each) => [each.collection, inJson(each)])), text: inText(counted) }
}

interface Counts {
  readonly collection: string
  readonly total: number
  readonly counts: readonly (readonly [filter: string, sizes: readonly (readonly [value: string, size: number])[]])[]
}

/** The values of one filter stand beside the total. Those of several would be taken for each other's. */
function inJson({ total, counts }: Counts): object {
  const [[, only = []] = [], ...others] = counts
  if (others.length === 0 && only.every(([value]) => value !== 'total')) return { total, ...Object.fromEntries(only) }
  return { total, by: Object.fromEntries(counts.map(([filter, sizes]) => [filter, Object.fromEntries(sizes)])) }
}

/** The filter has a column where they are not all the same one. */
function inText(counted: readonly Counts[]): string {
  const [name = '', ...others] = filtersOf(counted.map(({ counts }) => ({ filters: Object.fromEntries(counts) })))
  const isOne = others.length === 0
  const rows = counted.flatMap(({ collection, total, counts }) => [
    [collection, ...(isOne ? [] : ['']), 'total', String(total)],
    ...counts.flatMap(([filter, sizes]) =>
      sizes.map(([value, size]) => [collection, ...(isOne ? [] : [filter]), value, String(size)]),
    ),
  ])
  return table(['', ...(isOne ? [name.toUpperCase()] : ['FILTER', 'VALUE']), 'COUNT'], rows)
}

function filtersOf(resources: readonly { readonly filters?: object }[]): readonly string[] {
  return [...new Set(resources.flatMap(({ filters = {} }) => Object.keys(filters)))]
}
