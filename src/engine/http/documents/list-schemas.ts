import { type TProperties, type TSchema, Type } from 'typebox'
import { valuesOf } from '../../definition/filter-values.ts'
import { enumerationsBeside, indexedMax, isAnyValue, typeOf } from '../../definition/indexes.ts'
import { countsTitle, type NamedResource } from '../../definition/kinds.ts'
import type { Resource } from '../../door/service.ts'
import { Int64Schema } from '../../lib/values/int64.ts'
import { titleOf } from '../../lib/values/named-schemas.ts'
import { headers, pageHeaders, readHeaders, requestHeaders } from './header-schemas.ts'
import { answer, anyOperation, invalid, operation, unreadable } from './schema-parts.ts'

export const pageLimit = { minimum: 1, maximum: 100, default: 20 } as const

/** The query of a GET of a page. Generated clients have parameters by position: what came later stands behind, as `more`. */
export function pageQuery<Filters extends TProperties>(
  noun: string,
  filters: Filters = {} as Filters,
  more: TProperties = {},
) {
  const cursor = Type.String({ description: 'Where the page begins: taken from the `Link` of the page before' })
  const limit = Type.Integer({ ...pageLimit, description: `Maximum number of ${noun} returned` })
  return Type.Object(
    { limit: Type.Optional(limit), ...filters, cursor: Type.Optional(cursor), ...more },
    { additionalProperties: false },
  )
}

/** Ids in a list, separated by commas. */
const idsParameter = (several: string) =>
  Type.Array(Int64Schema({ description: 'An id', examples: [1] }), {
    ...{ minItems: 1, maxItems: pageLimit.maximum, style: 'form', explode: false, 'x-stability': 'beta' },
    description:
      `The ${several} with these ids, in ascending order of id (beta); those that there are not are left out. ` +
      'Not together with `limit` or `cursor`: all are in one answer',
  })

/** A GET of a page of documents. */
export function listSchema(resource: NamedResource) {
  const { filters = {}, list, schema, example, called } = resource
  const { several } = called
  const [others, enumerations] = [true, false].map((isAny) =>
    parametersOf(Object.entries(filters).filter(([, filter]) => isAnyValue(filter) === isAny)),
  )
  const all = Type.Array(schema, { title: `${titleOf(schema)}s`, description: `A list of ${several}` })
  return {
    ...operation(resource, list),
    querystring: pageQuery(several, enumerations, { id: Type.Optional(idsParameter(several)), ...others }),
    headers: headers(requestHeaders.consistency()),
    response: {
      ...anyOperation,
      200: answer(list.answer ?? `The list of ${several}`, all, [example], pageHeaders),
      400: invalid('query: limit must be at most 100'),
      503: unreadable,
    },
  }
}

/** A GET of how many documents there are by each value of an enumeration. */
export function countSchema(resource: NamedResource, count: NonNullable<Resource['count']>) {
  const { filters = {}, called } = resource
  const within = Object.entries(filters).filter(
    ([name, filter]) => isAnyValue(filter) && enumerationsBeside(resource, name).some((each) => each.name === count.by),
  )
  const values = valuesOf(filters[count.by] ?? {})
  const example = Object.fromEntries(values.map((value) => [value, 1]))
  return {
    ...operation(resource, count),
    querystring: Type.Object(parametersOf(within), { additionalProperties: false }),
    headers: headers(requestHeaders.consistency()),
    response: {
      ...anyOperation,
      200: answer(
        count.answer ?? `How many ${called.several} there are`,
        countsSchema(resource, count.by, values),
        example,
        readHeaders,
      ),
      400: invalid('query: "limit" is not allowed here'),
      503: unreadable,
    },
  }
}

function countsSchema(resource: NamedResource, by: string, values: readonly string[]) {
  const { several } = resource.called
  const counts = values.map((value) => {
    const description = `How many ${several} have the ${by} ${value}`
    return [value, Type.Integer({ minimum: 0, format: 'int64', description, examples: [1] })] as const
  })
  return Type.Object(Object.fromEntries(counts), {
    title: countsTitle(resource),
    description: `How many ${several} there are by \`${by}\``,
  })
}

/**
 * A text is bounded as an index bounds it, if the service does not bound it further. No value is proposed: the page that
 * documents it would send it.
 */
function parametersOf(filters: readonly (readonly [name: string, filter: TSchema])[]): TProperties {
  return Object.fromEntries(
    filters.map(([name, filter]) => {
      if (!isAnyValue(filter)) return [name, Type.Optional(filter)]
      const { examples: _, minLength = 1, maxLength = indexedMax, ...rest } = filter as FilterSchema
      const bounds = { minLength: Math.max(minLength, 1), maxLength: Math.min(maxLength, indexedMax) }
      return [name, Type.Optional(typeOf(filter) === 'string' ? { ...rest, ...bounds } : rest)]
    }),
  )
}

type FilterSchema = TSchema & { examples?: unknown; minLength?: number; maxLength?: number }
