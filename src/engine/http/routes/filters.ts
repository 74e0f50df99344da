import { enumerationsBeside, indexedMax, indexedText, isAnyValue } from '../../definition/indexes.ts'
import type { NamedResource } from '../../definition/kinds.ts'
import { listed } from '../../definition/words.ts'
import { ServiceError } from '../../lib/errors/errors.ts'
import type { IndexKey } from '../../read-models/document.ts'

/** What a request says of filters, by their names. */
export interface FilterParameters {
  readonly [filter: string]: unknown
}

/** A parameter of a query, as text. */
export type Parameter = readonly [name: string, value: string]

/** The filters that a request asks for, in the order in which the resource declares them. */
export function filtersIn({ filters = {} }: NamedResource, parameters: FilterParameters): readonly Parameter[] {
  return Object.keys(filters).flatMap((name) => {
    const value = parameters[name]
    if (value === undefined) return []
    const text = indexedText(value)
    if (text === undefined)
      throw new ServiceError('invalid_request', `query: ${name} must be 1 to ${indexedMax} characters, without NUL`)
    return [[name, text] as const]
  })
}

/**
 * Where the documents are that the filters choose. Throws ServiceError invalid_request, which names those that were `asked`
 * for, unless they go together.
 */
export function keysFor(
  resource: NamedResource,
  filters: readonly Parameter[],
  asked: readonly Parameter[] = filters,
): readonly IndexKey[] {
  const keys = resource.indexes.keysFor(Object.fromEntries(filters))
  if (keys !== undefined) return keys
  const names = asked.map(([name]) => name)
  throw togetherError(names, `; ${togetherIn(resource)}`)
}

/** In words: what goes together. */
function togetherIn(resource: NamedResource): string {
  const { filters = {} } = resource
  const pairs = Object.keys(filters).flatMap((name) => {
    const beside = isAnyValue(filters[name]) ? enumerationsBeside(resource, name).map((each) => each.name) : []
    return beside.length === 0 ? [] : [`${name} goes with ${listed(beside, 'and')}`]
  })
  return pairs.length === 0 ? 'each stands alone' : pairs.join(', ')
}

export function togetherError(names: readonly string[], more = ''): ServiceError {
  return new ServiceError('invalid_request', `query: ${listed(names, 'and')} cannot be used together${more}`)
}
