import type { FastifyReply } from 'fastify'
import type { CommandHandlers } from '../../commands/execution.ts'
import type { Definition } from '../../definition/definition.ts'
import type { NamedResource } from '../../definition/kinds.ts'
import { notFoundCode } from '../../door/errors.ts'
import type { EventFeed } from '../../feed/event-feed.ts'
import { ServiceError } from '../../lib/errors/errors.ts'
import type { Int64 } from '../../lib/values/int64.ts'
import type { Position } from '../../log/event-log.ts'
import type { DocumentId } from '../../read-models/document.ts'
import type { AtLeast, Reached, ReadModel, Wait } from '../../read-models/read-model.ts'
import { type FindKey, holderOf } from '../guards/auth.ts'
import type { KeyLimits } from '../guards/key-limits.ts'
import { checkIfMatch, isNamed, readConditions, tagOf } from '../values/conditions.ts'
import { readPrefer } from '../values/headers.ts'
import { readTokens, type TokenScope, writeToken } from '../values/tokens.ts'
import { jsonType } from '../wire/error-replies.ts'

/** What the routes use. */
export interface RouteServices {
  readonly definition: Definition
  readonly readModel: Pick<ReadModel, 'find' | 'page' | 'count'>
  readonly commands: CommandHandlers
  readonly log: TokenScope
  readonly events: Pick<EventFeed, 'history' | 'follow'>
  readonly findKey: FindKey
  readonly rate: KeyLimits['rate']
}

/** A request about a resource while it is being answered. */
export interface Exchange {
  readonly services: RouteServices
  readonly resource: NamedResource
  readonly reply: FastifyReply
  /** What the request's Consistency-Token requires of its answer. */
  readonly atLeast: AtLeast | undefined
  /** How long to wait for the outcome of a command. */
  readonly wait: Wait
}

/**
 * A command with `waitsAsPreferred` waits as long as `Prefer` says; any other waits until its outcome is known, and
 * ends early only if the client disconnects. Throws ServiceError invalid_consistency_token.
 */
export function readExchange(
  services: RouteServices,
  resource: NamedResource,
  reply: FastifyReply,
  { waitsAsPreferred = false } = {},
): Exchange {
  const wait = waitsAsPreferred ? preferredWait(reply) : untilGone(reply)
  const tokens = reply.request.headers['consistency-token']
  if (tokens === undefined) return { services, resource, reply, wait, atLeast: undefined }
  const atLeast = { positions: readTokens(services.log, String(tokens)), wait: preferredWait(reply) }
  reply.header('vary', 'Consistency-Token, Prefer')
  return { services, resource, reply, wait, atLeast }
}

function untilGone(reply: FastifyReply): Wait {
  return { timeoutMs: 0, isAbandoned: () => reply.raw.destroyed }
}

/** One second, unless the request has a `Prefer` header. */
function preferredWait(reply: FastifyReply): Wait {
  const seconds = readPrefer(reply.request.headers.prefer)
  reply.header('vary', 'Prefer')
  if (seconds !== undefined) reply.header('preference-applied', `wait=${seconds}`)
  return { ...untilGone(reply), timeoutMs: (seconds ?? 1) * 1000 }
}

/**
 * Sends a token that covers what the request sent and what its answer contains (positions, or the checkpoints it was
 * read at). A client that passes on the last token never sees anything older, on any instance.
 */
function addToken({ services, atLeast, reply }: Exchange, included: Position | Reached): void {
  const positions = 'offset' in included ? [included] : lastPositions(included)
  reply.header('consistency-token', writeToken(services.log, [...(atLeast?.positions ?? []), ...positions]))
}

function lastPositions(reached: Reached): Position[] {
  return reached.flatMap((checkpoints) =>
    [...checkpoints].flatMap(([partition, { next }]) => (next > 0 ? [{ partition, offset: next - 1 }] : [])),
  )
}

/**
 * Any answer with one document may be cached, but must be revalidated with its tag before each use. A proxy that
 * compressed it would have to weaken the tag, which is then of no use in If-Match.
 */
function addTag(reply: FastifyReply, tag: string): void {
  reply.header('etag', `"${tag}"`).header('cache-control', 'private, no-cache, no-transform')
}

/** The address of a path, as clients have to send it. */
export function addressOf({ server }: FastifyReply, path: string): string {
  return `${server.basePath}${path}`
}

/** Answers a GET of one document. */
export async function replyWithDocument(
  services: RouteServices,
  resource: NamedResource,
  id: Int64,
  reply: FastifyReply,
): Promise<string | FastifyReply> {
  const conditions = readConditions(reply.request.headers)
  const exchange = readExchange(services, resource, reply)
  const known = documentId(resource.collection, id)
  const { owner } = holderOf(reply.request)
  const { document, reached } =
    known === undefined ? nothing : await services.readModel.find(known, exchange.atLeast, owner)
  addReached(exchange, reached)
  if (document === undefined) throw notFound(exchange, id)
  const tag = tagOf(document.json)
  checkIfMatch(conditions, tag)
  addTag(reply, tag)
  if (isNamed(conditions, tag)) return reply.code(304).send()
  reply.type(jsonType)
  return document.json
}

const nothing = { document: undefined, reached: [] }

/** Undefined for an id that is never assigned: no such document exists. */
export function documentId(collection: string, id: Int64): DocumentId | undefined {
  return id >= 1 && id <= Number.MAX_SAFE_INTEGER ? { collection, id: Number(id) } : undefined
}

/** If the request had a token, its answer gets one that covers where it was read too. */
export function addReached(exchange: Exchange, reached: Reached): void {
  if (exchange.atLeast !== undefined) addToken(exchange, reached)
}

export function notFound({ resource: { noun } }: Exchange, id: Int64): ServiceError {
  return ServiceError.own(notFoundCode(noun), `There is no ${noun} ${id}.`)
}

/** Answers a command with the JSON of the resulting document; 204 where that is null, since it is removed. */
export function replyToCommand(
  exchange: Exchange,
  json: string | null,
  included: Position | Reached,
): string | FastifyReply {
  const { reply } = exchange
  if (json !== null) addTag(reply.type(jsonType), tagOf(json))
  addToken(exchange, included)
  return json ?? reply.code(204).send()
}
