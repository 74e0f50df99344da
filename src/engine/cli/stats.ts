import { valuesOf } from '../definition/filter-values.ts'
import { indexesOf, isAnyValue } from '../definition/indexes.ts'
import type { NamedResource } from '../definition/kinds.ts'
import { listed } from '../definition/words.ts'
import { setName } from '../read-models/document.ts'
import { type CommandResult, table } from './output.ts'

type Counted = Pick<NamedResource, 'collection' | 'filters'>

export function statsSummary(resources: readonly Counted[]): string {
  const filters = namesIn(resources.map(enumerationsOf))
  const by = filters.length === 0 ? '' : `, by ${listed(filters, 'and')}`
  const collections = resources.map(({ collection }) => collection)
  return `Show how many ${listed(collections, 'and')} there are${by}`
}

/** `sizeOf`: of a set of documents. */
export function describeStats(resources: readonly Counted[], sizeOf: (set: string) => number): CommandResult {
  const counted = resources.map((resource) => {
    const { collection } = resource
    const filters = enumerationsOf(resource)
    const setOf = (filter: string, value: string) =>
      setName(collection, indexesOf({ filters }).keysFor({ [filter]: value })?.[0])
    const counts = Object.entries(filters).map(([filter, values]) => {
      const sizes = valuesOf(values).map((value) => [value, sizeOf(setOf(filter, value))] as const)
      return [filter, sizes] as const
    })
    return { collection, total: sizeOf(collection), counts }
  })
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
  const [name = '', ...others] = namesIn(counted.map(({ counts }) => Object.fromEntries(counts)))
  const isOne = others.length === 0
  const rows = counted.flatMap(({ collection, total, counts }) => [
    [collection, ...(isOne ? [] : ['']), 'total', String(total)],
    ...counts.flatMap(([filter, sizes]) =>
      sizes.map(([value, size]) => [collection, ...(isOne ? [] : [filter]), value, String(size)]),
    ),
  ])
  return table(['', ...(isOne ? [name.toUpperCase()] : ['FILTER', 'VALUE']), 'COUNT'], rows)
}

/** Each value of these has a set, whose size is recorded. */
function enumerationsOf({ filters = {} }: Counted): NonNullable<Counted['filters']> {
  return Object.fromEntries(Object.entries(filters).filter(([, filter]) => !isAnyValue(filter)))
}

function namesIn(filters: readonly object[]): readonly string[] {
  return [...new Set(filters.flatMap((each) => Object.keys(each)))]
}
