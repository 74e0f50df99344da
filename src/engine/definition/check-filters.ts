import type { TSchema } from 'typebox'
import { valuesOf } from './filter-values.ts'
import { enumerationsBeside, isAnyValue, rangesMax, typeOf } from './indexes.ts'
import type { NamedResource } from './kinds.ts'

type Problems = Generator<string>

/** What is wrong with the filters of a resource, with what goes together, and with what is counted. */
export function* filtersIn(place: string, resource: NamedResource): Problems {
  const { filters = {}, together = [], count } = resource
  for (const [name, filter] of Object.entries(filters)) {
    const at = `${place}.filters.${name}`
    if (!/^[a-z]\w*$/i.test(name)) yield `${at}: it must be a name of letters, digits and _`
    if (['limit', 'cursor', 'id'].includes(name)) yield `${at}: the engine has a parameter of this name`
    if (isAnyValue(filter) ? !isIndexed(filter) : valuesOf(filter).length === 0)
      yield `${at}: it is neither an enumeration of texts, nor an integer of the format int64, nor a text`
  }
  for (const names of together) yield* togetherIn(`${place}.together: ${names.join(' and ')}`, resource, names)
  const anyValues = together.flat().filter((name) => isAnyValue(filters[name]))
  for (const name of new Set(anyValues.filter((each, i) => anyValues.indexOf(each) !== i)))
    yield `${place}.together: ${name} is in two lists: one has all that it goes with`
  if (count === undefined) return
  if (!/^\/v1(\/[\w-]+)+$/.test(count.path)) yield `${place}.count.path: ${count.path} must begin with /v1/`
  if (filters[count.by] === undefined || isAnyValue(filters[count.by]))
    yield `${place}.count.by: ${count.by} is no filter that is an enumeration`
}

function* togetherIn(at: string, resource: NamedResource, names: readonly string[]): Problems {
  const { filters = {} } = resource
  for (const name of names) if (filters[name] === undefined) yield `${at}: ${name} is no filter`
  if (new Set(names).size < names.length) yield `${at}: one is named twice`
  const anyValues = names.filter((name) => isAnyValue(filters[name]))
  const [name = '', ...others] = anyValues
  if (name === '' || others.length > 0 || names.length < 2) {
    yield `${at}: it must name one int64 or text, and one enumeration at least`
    return
  }
  const ranges = enumerationsBeside(resource, name).reduce((product, { values }) => product * (values.length + 1), 1)
  if (ranges > rangesMax) yield `${at}: a list by ${name} alone would be made of ${ranges} ranges: ${rangesMax} at most`
}

function isIndexed(filter: TSchema): boolean {
  const { format } = filter as { readonly format?: unknown }
  return typeOf(filter) === 'string' || (typeOf(filter) === 'integer' && format === 'int64')
}
