import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { CreatePet } from '../command-handling/create-pet.ts'
import { type CreatedOnce, type CreatePetOnce, eventParked } from '../command-handling/create-pet-once.ts'
import { requestIdentity } from '../command-handling/request-identity.ts'
import { type NewPet, type PetStatus, toNewPet } from '../domain/pet.ts'
import type { PetReads } from '../domain/read-pets.ts'
import type { Position } from '../event-log/event-log.ts'
import { ServiceError } from '../lib/errors.ts'
import type { Wait } from '../read-models/applied-progress.ts'
import type { AtLeast } from '../read-models/consistent-reads.ts'
import { readTokens, type TokenScope, writeToken } from './consistency-token.ts'
import { readCursor, writeCursor } from './cursor.ts'
import { replyWithError } from './error-replies.ts'
import { readIdempotencyKey } from './idempotency-key.ts'
import { jsonType } from './media-types.ts'
import { createPetSchema, deprecationHeaders, getPetSchema, listPetsSchema, pageLimit } from './pets-schemas.ts'
import { preferredWait } from './prefer.ts'
import { traceparentOf } from './trace-context.ts'

export interface PetServices {
  readonly createPet: CreatePet
  readonly createPetOnce: CreatePetOnce
  readonly pets: PetReads
  /** Resolves to whether the position was applied to the read model within the time. Never rejects. */
  readonly whenApplied: (position: Position, wait: Wait) => Promise<boolean>
  /** Whether the record at a position that was waited for is known to be parked. */
  readonly isParked: (position: Position) => boolean
  readonly log: TokenScope
}

/** The operations of the specification. Stored documents are sent as they are, unparsed. */
export function addPetRoutes(instance: FastifyInstance, services: PetServices): void {
  const { pets, log } = services
  const app = instance.withTypeProvider<TypeBoxTypeProvider>()

  app.get('/pets', { schema: listPetsSchema }, async (request, reply) => {
    const { limit = pageLimit.default, status, cursor } = request.query
    const after = cursor === undefined ? 0 : readCursor(cursor, status)
    const { json, next } = await pets.page({ status, after, limit }, atLeast(log, request, reply))
    if (next !== undefined) reply.header('link', nextLink(next, limit, status))
    reply.type(jsonType)
    return json
  })

  app.post('/pets', { schema: createPetSchema }, async (request, reply) => {
    const { id, document, position, replayed } = await create(services, toNewPet(request.body), request, reply)
    if (replayed) reply.header('idempotency-replayed', 'true')
    reply.code(201).header('location', `/v1/pets/${id}`).header('consistency-token', writeToken(log, position))
    reply.header('vary', 'Prefer').type(jsonType)
    return document
  })

  app.get('/pets/:petId', { schema: getPetSchema, errorHandler: replyDeprecatedError }, async (request, reply) => {
    const { petId } = request.params
    const document = await pets.find(BigInt(petId), atLeast(log, request, reply))
    if (document === undefined) throw new ServiceError('pet_not_found', `There is no pet ${petId}.`)
    reply.headers(deprecationHeaders).type(jsonType)
    return document
  })
}

/** Answers once the read models have the pet, so that the next GET sees it, or the time is over: it is durable either way. */
async function create(
  { createPet, createPetOnce, whenApplied, isParked }: PetServices,
  pet: NewPet,
  { headers, apiKeyId }: FastifyRequest,
  reply: FastifyReply,
): Promise<CreatedOnce> {
  const traceparent = traceparentOf(headers)
  const key = readIdempotencyKey(headers['idempotency-key'])
  if (key !== undefined) {
    // Whatever Prefer says: only once its key is decided is it known which pet the request gets.
    const isAbandoned = () => reply.raw.destroyed
    return await createPetOnce(pet, { traceparent, identity: requestIdentity(apiKeyId, key, pet), isAbandoned })
  }
  const wait = waitFor(headers.prefer, reply)
  const created = await createPet(pet, { traceparent })
  await whenApplied(created.position, wait)
  if (isParked(created.position)) throw eventParked()
  return { ...created, replayed: false }
}

/** What the request's Consistency-Token asks of its answer. */
function atLeast(log: TokenScope, { headers }: FastifyRequest, reply: FastifyReply): AtLeast | undefined {
  const tokens = headers['consistency-token']
  if (tokens === undefined) return undefined
  reply.header('vary', 'Consistency-Token, Prefer')
  return { positions: readTokens(log, String(tokens)), wait: waitFor(headers.prefer, reply) }
}

/** Ends early when the client goes. */
function waitFor(prefer: string | string[] | undefined, reply: FastifyReply): Wait {
  const { seconds, applied } = preferredWait(prefer)
  if (applied !== undefined) reply.header('preference-applied', applied)
  return { timeoutMs: seconds * 1000, isAbandoned: () => reply.raw.destroyed }
}

/** RFC 8288. */
function nextLink(lastId: number, limit: number, status: PetStatus | undefined): string {
  const filter = status === undefined ? '' : `&status=${status}`
  return `</v1/pets?limit=${limit}${filter}&cursor=${writeCursor(lastId, status)}>; rel="next"`
}

/** Errors of a deprecated operation say so as well, those of authentication included. */
function replyDeprecatedError(error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  return replyWithError(error, request, reply.headers(deprecationHeaders))
}
