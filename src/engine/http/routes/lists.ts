import { hash } from 'node:crypto'
import type { FastifyReply } from 'fastify'
import type { Definition } from '../../definition/definition.ts'
import { valuesOf } from '../../definition/filter-values.ts'
import { isAnyValue } from '../../definition/indexes.ts'
import type { NamedResource } from '../../definition/kinds.ts'
import type { Int64 } from '../../lib/values/int64.ts'
import { pageLimit } from '../documents/list-schemas.ts'
import { holderOf } from '../guards/auth.ts'
import { checkIfMatch, readConditions } from '../values/conditions.ts'
import { readCursor, writeCursor } from '../values/tokens.ts'
import { jsonType } from '../wire/error-replies.ts'
import { type FilterParameters, filtersIn, keysFor, type Parameter, togetherError } from './filters.ts'
import { addReached, addressOf, documentId, type RouteServices, readExchange } from './resource.ts'

export interface PageParameters extends FilterParameters {
  readonly limit?: number
  readonly cursor?: string
  readonly id?: readonly Int64[]
}

/** Answers a GET of a list. */
export async function replyWithPage(
  services: RouteServices,
  resource: NamedResource,
  parameters: PageParameters,
  reply: FastifyReply,
): Promise<string> {
  const { limit = pageLimit.default, cursor, id: asked, ...given } = parameters
  if (asked !== undefined) refuseBesideIds({ limit: parameters.limit, cursor })
  const filters = filtersIn(resource, given)
  const indexKeys = filters.length === 0 ? undefined : keysFor(resource, filters)
  const list = listName(services.definition, resource, filters)
  const conditions = readConditions(reply.request.headers)
  const after = cursor === undefined ? 0 : readCursor(cursor, list)
  const exchange = readExchange(services, resource, reply)
  const ids = asked && idsIn(resource.collection, asked)
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
  const keysOfEach = values.map((value) => keysFor(resource, [...within, [by, value]], within))
  const conditions = readConditions(reply.request.headers)
  const exchange = readExchange(services, resource, reply)
  const query = { collection, indexKeys: keysOfEach.flat() }
  const { owner } = holderOf(reply.request)
  const { counts, reached } = await services.readModel.count(query, exchange.atLeast, owner)
  addReached(exchange, reached)
  checkIfMatch(conditions)
  const rest = [...counts]
  const totals = keysOfEach.map(({ length }) => rest.splice(0, length).reduce((sum, count) => sum + count, 0))
  reply.type(jsonType)
  return JSON.stringify(Object.fromEntries(values.map((value, i) => [value, totals[i]])))
}

/** All documents with the ids are in one answer. */
function refuseBesideIds(others: Readonly<Record<string, unknown>>): void {
  const other = Object.keys(others).find((each) => others[each] !== undefined)
  if (other !== undefined) throw togetherError(['id', other])
}

/** Those that a document can have, in ascending order, each once. */
function idsIn(collection: string, asked: readonly Int64[]): readonly number[] {
  const ids = asked.flatMap((id) => documentId(collection, id)?.id ?? [])
  return [...new Set(ids)].sort((a, b) => a - b)
}

/**
 * What a cursor belongs to: the collection and the filters. Earlier releases had enumerations alone, with no name for the home
 * collection and none for the first one: their cursors go on. Any other value may be long, so it is in there as a hash.
 */
function listName({ names }: Definition, resource: NamedResource, chosen: readonly Parameter[]): string {
  const { collection, filters = {} } = resource
  const prefix = collection === names.collections[0] ? '' : `${collection}:`
  const [first] = chosen
  if (first === undefined) return prefix
  if (chosen.some(([name]) => isAnyValue(filters[name])))
    return `${prefix}=${hash('sha256', JSON.stringify(chosen)).slice(0, 16)}`
  const [name, value] = first
  const firstEnumeration = Object.keys(filters).find((each) => !isAnyValue(filters[each]))
  return prefix + (name === firstEnumeration ? value : `${name}:${value}`)
}

/** The link to the next page (RFC 8288). A value may have anything in it, which neither ends it nor the link (RFC 3986). */
export function addNext(reply: FastifyReply, path: string, query: readonly Parameter[]): void {
  const parameters = query.map((parameter) => parameter.map(encodeURIComponent).join('='))
  reply.header('link', `<${addressOf(reply, path)}?${parameters.join('&')}>; rel="next"`)
}
