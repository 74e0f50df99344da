import type { FastifyReply, FastifyRequest } from 'fastify'
import { documentId, pageQuery } from '../domain/queries.ts'
import { type ErrorCode, ServiceError } from '../lib/errors.ts'
import type { Int64 } from '../lib/int64.ts'
import type { AtLeast, Reached } from '../read-models/read-model.ts'
import { addToken, lastPositions, readAtLeast } from './consistency.ts'
import { readCursor, writeCursor } from './cursor.ts'
import { isNamed, readCondition, writeTag } from './etag.ts'
import { jsonType } from './media-types.ts'
import { pageLimit } from './schema-parts.ts'
import type { RouteServices } from './services.ts'

/** Documents that are listed page by page, and found by id. They are sent as they are stored, unparsed. */
export interface Resource {
  readonly collection: string
  readonly path: string
  /** What the cursors of its lists begin with. */
  readonly list: string
  /** What one of them is called. */
  readonly noun: string
  readonly notFound: ErrorCode
}

export interface ListParameters {
  readonly limit?: number
  readonly status?: string
  readonly cursor?: string
}

/** Answers a GET of a list. */
export async function replyWithPage(
  { readModel, log }: RouteServices,
  resource: Resource,
  { limit = pageLimit.default, status, cursor }: ListParameters,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<string> {
  const list = resource.list + (status ?? '')
  const after = cursor === undefined ? 0 : readCursor(cursor, list)
  const atLeast = readAtLeast(log, request, reply)
  const query = pageQuery(resource.collection, { status, after, limit })
  const { documents, last, reached } = await readModel.page(query, atLeast)
  if (atLeast !== undefined) addToken(log, atLeast, lastPositions(reached), reply)
  if (last !== undefined) {
    const filter = status === undefined ? '' : `&status=${status}`
    const next = `${resource.path}?limit=${limit}${filter}&cursor=${writeCursor(last, list)}`
    reply.header('link', `<${next}>; rel="next"`) // RFC 8288
  }
  reply.type(jsonType)
  return `[${documents}]`
}

/** Answers a GET of one document. */
export async function replyWithDocument(
  services: RouteServices,
  resource: Resource,
  id: Int64,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<string | FastifyReply> {
  const known = readCondition('If-None-Match', request.headers['if-none-match'], services)
  const atLeast = readAtLeast(services.log, request, reply)
  const { json, version } = await findDocument(services, resource, id, atLeast, reply)
  addTag(services, version, reply)
  if (isNamed(version, known)) return reply.code(304).send()
  reply.type(jsonType)
  return json
}

export interface FoundJson {
  readonly json: string
  readonly version: number
  readonly reached: Reached
}

/**
 * Finds one document. Where the request came with a token its answer gets one, whatever it is. Throws what reading
 * throws, and the ServiceError of the resource where there is no such document.
 */
export async function findDocument(
  { readModel, log }: RouteServices,
  { collection, noun, notFound }: Resource,
  id: Int64,
  atLeast: AtLeast | undefined,
  reply: FastifyReply,
): Promise<FoundJson> {
  const query = documentId(collection, id)
  const { document, reached } = query === undefined ? nothing : await readModel.find(query, atLeast)
  if (atLeast !== undefined) addToken(log, atLeast, lastPositions(reached), reply)
  if (document === undefined) throw new ServiceError(notFound, `There is no ${noun} ${id}.`)
  return { ...document, reached }
}

const nothing = { document: undefined, reached: [] }

/** Every answer with one document may be kept, but has to be revalidated with its tag whenever it is used. */
export function addTag(services: RouteServices, version: number, reply: FastifyReply): void {
  reply.header('etag', writeTag(services, version)).header('cache-control', 'private, no-cache')
}
