import { valuesOf } from '../definition/filter-values.ts'
import { enumerationsBeside, isAnyValue, typeOf } from '../definition/indexes.ts'
import type { NamedResource } from '../definition/kinds.ts'
import type { DocumentCounts, DocumentFilter, DocumentList } from './answers.ts'

type Listed = Pick<NamedResource, 'path' | 'idName' | 'filters' | 'together' | 'count'>

/** How each kind of document is listed: by which filters, which of them go together, and what is counted. */
export function listsOf(resources: readonly Listed[]): DocumentList[] {
  return resources.map((resource) => {
    const { path, idName, filters = {} } = resource
    return {
      name: path.slice('/v1/'.length),
      path: path.slice(1),
      one: `${path.slice(1)}/{${idName}}`,
      parameter: idName,
      filters: Object.keys(filters).map((name) => filterOf(resource, name)),
      counts: countsOf(resource),
    }
  })
}

function filterOf(resource: Listed, name: string): DocumentFilter {
  const { [name]: filter = {} } = resource.filters ?? {}
  return {
    name,
    values: isAnyValue(filter) ? undefined : valuesOf(filter),
    isInteger: typeOf(filter) === 'integer',
    beside: isAnyValue(filter) ? enumerationsBeside(resource, name).map((each) => each.name) : [],
  }
}

function countsOf(resource: Listed): DocumentCounts | undefined {
  const { count, filters = {} } = resource
  if (count === undefined) return undefined
  const within = Object.keys(filters).filter((name) => filterOf(resource, name).beside.includes(count.by))
  return { path: count.path.slice(1), by: count.by, within }
}
