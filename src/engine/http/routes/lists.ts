import type { FastifyReply } from 'fastify'
import type { Definition } from '../../definition/definition.ts'
import { valuesOf } from '../../definition/filter-values.ts'
import { enumerationsBeside, indexedMax, indexedText, isAnyValue } from '../../definition/indexes.ts'
import type { NamedResource } from '../../definition/kinds.ts'
import { ServiceError } from '../../lib/errors/errors.ts'
import type { Int64 } from '../../lib/values/int64.ts'
import type { IndexKey } from '../../read-models/document.ts'
import { pageLimit } from '../documents/schema-parts.ts'
import { holderOf } from '../guards/auth.ts'
import { checkIfMatch, readConditions } from '../values/conditions.ts'
import { readCursor, writeCursor } from '../values/tokens.ts'
import { jsonType } from '../wire/error-replies.ts'
import { addReached, addressOf, documentId, type RouteServices, readExchange } from './resource.ts'

export interface PageParameters extends FilterParameters {
  readonly limit?: number
  readonly cursor?: string
  readonly id?: readonly Int64[]
}

/** Values of filters by their names. */
export interface FilterParameters {
  readonly [filter: string]: unknown
}

/** Answers a GET of a list. */
export async function replyWithPage(
  services: RouteServices,
  resource: NamedResource,
  parameters: PageParameters,
  reply: FastifyReply,
): Promise<string> {
  const { limit = pageLimit.default, cursor, id: asked, ...given } = parameters
  if (asked !== undefined) refuseTogether('id', { limit: parameters.limit, cursor })
  const filters = filtersIn(resource, given)
  const list = listName(services.definition, resource, filters)
  const conditions = readConditions(reply.request.headers)
  const after = cursor === undefined ? 0 : readCursor(cursor, list)
  const exchange = readExchange(services, resource, reply)
  const ids = asked && idsIn(resource.collection, asked)
  const indexKeys = filters.length === 0 ? undefined : keysFor(resource, filters)
  const page = { collection: resource.collection, indexKeys, after, limit: ids?.length ?? limit, ids }
  const { owner } = holderOf(reply.request)
  const { documents, last, reached } = await services.readModel.page(page, exchange.atLeast, owner)
  addReached(exchange, reached)
  checkIfMatch(conditions)
  if (last !== undefined)
    addNext(reply, resource.path, [['limit', String(limit)], ...filters, ['cursor', writeCursor(last, list)]])
  reply.type(jsonType)
  return `[${documents}]`
}

/** Answers a GET of how many there are by each value of an enumeration. */
export async function replyWithCounts(
  services: RouteServices,
  resource: NamedResource,
  by: string,
  parameters: FilterParameters,
  reply: FastifyReply,
): Promise<string> {
  const { collection, filters = {} } = resource
  const within = filtersIn(resource, parameters)
  const values = valuesOf(filters[by] ?? {})
  const conditions = readConditions(reply.request.headers)
  const exchange = readExchange(services, resource, reply)
  const indexKeys = values.flatMap((value) => keysFor(resource, [...within, [by, value]]))
  const { owner } = holderOf(reply.request)
  const { counts, reached } = await services.readModel.count({ collection, indexKeys }, exchange.atLeast, owner)
  addReached(exchange, reached)
  checkIfMatch(conditions)
  reply.type(jsonType)
  return JSON.stringify(Object.fromEntries(values.map((value, i) => [value, counts[i] ?? 0])))
}

/** Those that a document can have, in ascending order, each once. */
function idsIn(collection: string, asked: readonly Int64[]): readonly number[] {
  const ids = asked.flatMap((id) => documentId(collection, id)?.id ?? [])
  return [...new Set(ids)].sort((a, b) => a - b)
}

type Parameter = readonly [name: string, value: string]

/** What was asked for, in the order in which the resource declares it. */
function filtersIn({ filters = {} }: NamedResource, given: FilterParameters): readonly Parameter[] {
  return Object.keys(filters).flatMap((name) => {
    const value = given[name]
    if (value === undefined) return []
    const text = indexedText(value)
    if (text === undefined)
      throw new ServiceError('invalid_request', `query: ${name} must be 1 to ${indexedMax} characters, without NUL`)
    return [[name, text] as const]
  })
}

/** No index holds the documents that filters choose which do not go together. */
function keysFor(resource: NamedResource, filters: readonly Parameter[]): readonly IndexKey[] {
  const keys = resource.indexes.keysFor(Object.fromEntries(filters))
  if (keys !== undefined) return keys
  const [first = '', second = ''] = filters.map(([name]) => name)
  throw togetherError(first, second, `. ${togetherIn(resource)}`)
}

/** What goes together. */
function togetherIn(resource: NamedResource): string {
  const { filters = {} } = resource
  const pairs = Object.keys(filters)
    .filter((name) => isAnyValue(filters[name]))
    .map((name) => [name, ...enumerationsBeside(resource, name).map((each) => each.name)])
    .filter((names) => names.length > 1)
    .map(([name, ...beside]) => `${name} goes with ${beside.join(' and ')}`)
  return pairs.length === 0 ? 'Each filter stands alone' : pairs.join('; ')
}

function refuseTogether(name: string, others: Readonly<Record<string, unknown>>): void {
  const other = Object.keys(others).find((each) => others[each] !== undefined)
  if (other !== undefined) throw togetherError(name, other)
}

export function togetherError(name: string, other: string, more = ''): ServiceError {
  return new ServiceError('invalid_request', `query: ${name} and ${other} cannot be used together${more}`)
}

/**
 * What a cursor belongs to. The first filter alone has no name, and the home collection neither: old cursors have none. A
 * value of any text is encoded, so that it is not taken for two filters.
 */
function listName(
  { names }: Definition,
  { collection, filters = {} }: NamedResource,
  chosen: readonly Parameter[],
): string {
  const prefix = collection === names.collections[0] ? '' : `${collection}:`
  const [[first = '', value = ''] = [], ...others] = chosen
  if (others.length === 0 && first === Object.keys(filters)[0]) return prefix + encodeURIComponent(value)
  return prefix + chosen.map(([name, each]) => `${name}:${encodeURIComponent(each)}`).join('&')
}

/** The link to the next page (RFC 8288). A value may have anything in it, which neither ends it nor the link (RFC 3986). */
export function addNext(reply: FastifyReply, path: string, query: readonly Parameter[]): void {
  const parameters = query.map((parameter) => parameter.map(encodeURIComponent).join('='))
  reply.header('link', `<${addressOf(reply, path)}?${parameters.join('&')}>; rel="next"`)
}
