import type { TSchema } from 'typebox'
import { valuesOf } from './filter-values.ts'
import { enumerationsBeside, isAnyValue, rangesMax, typeOf } from './indexes.ts'
import type { NamedResource } from './kinds.ts'

type Problems = Generator<string>

/** What is wrong with the filters of a resource, with what goes together, and with what is counted. */
export function* filtersIn(place: string, resource: NamedResource): Problems {
  const { filters = {}, together = [] } = resource
  for (const [name, filter] of Object.entries(filters)) yield* filterIn(`${place}.filters.${name}`, name, filter)
  for (const names of together) yield* togetherIn(`${place}.together: ${names.join(' and ')}`, resource, names)
  const anyValues = together.flatMap((names) => [...new Set(names)].filter((name) => isAnyValue(filters[name])))
  for (const name of new Set(anyValues.filter((each, i) => anyValues.indexOf(each) !== i)))
    yield `${place}.together: ${name} is in two lists: one has all that it goes with`
  yield* countIn(`${place}.count`, resource)
}

function* filterIn(at: string, name: string, filter: TSchema): Problems {
  if (!/^[a-z]\w*$/i.test(name)) yield `${at}: it must be a name of letters, digits and _`
  if (['limit', 'cursor', 'id'].includes(name)) yield `${at}: the engine has a parameter of this name`
  if (isAnyValue(filter) ? !isIndexed(filter) : valuesOf(filter).length === 0)
    yield `${at}: it is neither an enumeration of texts, nor an integer of the format int64, nor a text`
}

function* togetherIn(at: string, resource: NamedResource, names: readonly string[]): Problems {
  const { filters = {} } = resource
  const unknown = names.filter((name) => filters[name] === undefined)
  for (const name of unknown) yield `${at}: ${name} is no filter`
  if (new Set(names).size < names.length) yield `${at}: one is named twice`
  if (unknown.length > 0) return
  const [name = '', ...others] = new Set(names.filter((each) => isAnyValue(filters[each])))
  if (name === '' || others.length > 0 || names.length < 2) {
    yield `${at}: it must name one int64 or text, and one enumeration at least`
    return
  }
  const ranges = enumerationsBeside(resource, name).reduce((product, { values }) => product * (values.length + 1), 1)
  if (ranges > rangesMax)
    yield `${at}: a list by ${name} alone would be merged from ${ranges} ranges: ${rangesMax} at most`
}

function* countIn(at: string, { filters = {}, count }: NamedResource): Problems {
  if (count === undefined) return
  const { path, by } = count
  if (!/^\/v1(\/[\w-]+)+$/.test(path)) yield `${at}.path: ${path} must begin with /v1/, without a slash at its end`
  const filter = filters[by]
  if (filter === undefined || isAnyValue(filter)) yield `${at}.by: ${by} is no filter that is an enumeration`
}

function isIndexed(filter: TSchema): boolean {
  const { format } = filter as { readonly format?: unknown }
  return typeOf(filter) === 'string' || (typeOf(filter) === 'integer' && format === 'int64')
}
