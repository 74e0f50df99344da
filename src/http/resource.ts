import type { FastifyReply, FastifyRequest } from 'fastify'
import type { CommandHandler, Handled } from '../command-handling/command-handler.ts'
import type { PetEvent } from '../domain/events.ts'
import type { PetState } from '../domain/pet-stream.ts'
import { documentId, pageQuery } from '../domain/queries.ts'
import type { Position } from '../event-log/event-log.ts'
import { type ErrorCode, ServiceError } from '../lib/errors.ts'
import type { Int64 } from '../lib/int64.ts'
import type { AtLeast, Reached, ReadModel, Wait } from '../read-models/read-model.ts'
import { jsonType } from './error-replies.ts'
import { isNamed, preferredWait, readCondition, type TagScope, writeTag } from './headers.ts'
import { pageLimit } from './schema-parts.ts'
import { readCursor, readTokens, type TokenScope, writeCursor, writeToken } from './tokens.ts'

/** What the routes are served by. */
export interface RouteServices extends TagScope {
  readonly readModel: Pick<ReadModel, 'find' | 'page'>
  readonly commands: CommandHandler<PetState | undefined, PetEvent>
  readonly log: TokenScope
}

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

const defaultWaitSeconds = 1

/** How long the request is willing to wait. */
export function readWait({ headers }: FastifyRequest, reply: FastifyReply): Wait {
  const seconds = preferredWait(headers.prefer)
  reply.header('vary', 'Prefer')
  if (seconds !== undefined) reply.header('preference-applied', `wait=${seconds}`)
  return { ...untilGone(reply), timeoutMs: (seconds ?? defaultWaitSeconds) * 1000 }
}

/** For a command that awaits its outcome whatever Prefer says: it can end early only when the client goes. */
export function untilGone(reply: FastifyReply): Wait {
  return { timeoutMs: 0, isAbandoned: () => reply.raw.destroyed }
}

/** What the request's Consistency-Token asks of its answer. Throws ServiceError invalid_consistency_token. */
export function readAtLeast(log: TokenScope, request: FastifyRequest, reply: FastifyReply): AtLeast | undefined {
  const tokens = request.headers['consistency-token']
  if (tokens === undefined) return undefined
  const atLeast = { positions: readTokens(log, String(tokens)), wait: readWait(request, reply) }
  reply.header('vary', 'Consistency-Token, Prefer')
  return atLeast
}

/**
 * Hands out a token that covers what the request was sent with and what its answer tells: whoever sends on the last one
 * never sees anything older, on any instance.
 */
export function addToken(
  log: TokenScope,
  atLeast: AtLeast | undefined,
  told: readonly Position[],
  reply: FastifyReply,
): void {
  reply.header('consistency-token', writeToken(log, [...(atLeast?.positions ?? []), ...told]))
}

/** The last positions of what an answer was read from. */
export function lastPositions(reached: Reached): Position[] {
  return reached.flatMap((checkpoints) =>
    [...checkpoints].flatMap(([partition, { next }]) => (next > 0 ? [{ partition, offset: next - 1 }] : [])),
  )
}

/** Every answer with one document may be kept, but has to be revalidated with its tag whenever it is used. */
export function addTag(scope: TagScope, version: number, reply: FastifyReply): void {
  reply.header('etag', writeTag(scope, version)).header('cache-control', 'private, no-cache')
}

/** Answers a GET of a list. */
export async function replyWithPage(
  { readModel, log }: RouteServices,
  resource: Resource,
  query: { readonly limit?: number; readonly status?: string; readonly cursor?: string },
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<string> {
  const { limit = pageLimit.default, status, cursor } = query
  const list = resource.list + (status ?? '')
  const after = cursor === undefined ? 0 : readCursor(cursor, list)
  const atLeast = readAtLeast(log, request, reply)
  const page = pageQuery(resource.collection, { status, after, limit })
  const { documents, last, reached } = await readModel.page(page, atLeast)
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

const nothing = { document: undefined, reached: [] }

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
): Promise<{ readonly json: string; readonly version: number; readonly reached: Reached }> {
  const query = documentId(collection, id)
  const { document, reached } = query === undefined ? nothing : await readModel.find(query, atLeast)
  if (atLeast !== undefined) addToken(log, atLeast, lastPositions(reached), reply)
  if (document === undefined) throw new ServiceError(notFound, `There is no ${noun} ${id}.`)
  return { ...document, reached }
}

type Created = Exclude<Handled<PetState | undefined>, { outcome: 'unchanged' }>

/** What came of a command that always makes something. */
export function createdBy(handled: Handled<PetState | undefined>): Created {
  if (handled.outcome === 'unchanged') throw new Error('the command made nothing')
  return handled
}

/** 201, with the JSON of what was made: now, or by an earlier request under the Idempotency-Key. */
export function replyWithCreated(
  services: RouteServices,
  { path }: Resource,
  created: Created,
  { id, json }: { readonly id: number; readonly json: string },
  atLeast: AtLeast | undefined,
  reply: FastifyReply,
): string {
  const isReplayed = created.outcome === 'replayed'
  if (isReplayed) reply.header('idempotency-replayed', 'true')
  reply.code(201).header('location', `${path}/${id}`).type(jsonType)
  addTag(services, isReplayed ? created.record.version : created.version, reply)
  addToken(services.log, atLeast, [created.position], reply)
  return json
}
