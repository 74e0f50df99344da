import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { ServiceError } from '../errors.ts'
import type { Position } from '../event-log/event-log.ts'
import type { CreatePet } from '../pets/create-pet.ts'
import { type PetStatus, petDocument, toNewPet } from '../pets/pet.ts'
import type { PetReads } from '../pets/read-pets.ts'
import { readCursor, writeCursor } from './cursor.ts'
import { replyWithError } from './error-replies.ts'
import { jsonType } from './media-types.ts'
import { createPetSchema, deprecationHeaders, getPetSchema, listPetsSchema, pageLimit } from './pets-schemas.ts'
import { traceparentOf } from './trace-context.ts'

/** How long a POST waits for its event to be applied to the read models, so that the next GET sees the pet. */
const appliedWithinMs = 1000

export interface PetServices {
  readonly createPet: CreatePet
  readonly pets: PetReads
  /** Resolves to whether the position was applied to the read model within the time. Never rejects. */
  readonly whenApplied: (position: Position, timeoutMs: number) => Promise<boolean>
}

/** The operations of the specification. Stored documents are sent as they are, unparsed. */
export function addPetRoutes(instance: FastifyInstance, { createPet, pets, whenApplied }: PetServices): void {
  const app = instance.withTypeProvider<TypeBoxTypeProvider>()

  app.get('/pets', { schema: listPetsSchema }, async ({ query }, reply) => {
    const { limit = pageLimit.default, status, cursor } = query
    const after = cursor === undefined ? 0 : readCursor(cursor, status)
    const { json, next } = await pets.page({ status, after, limit })
    if (next !== undefined) reply.header('link', nextLink(next, limit, status))
    reply.type(jsonType)
    return json
  })

  app.post('/pets', { schema: createPetSchema }, async ({ body, headers }, reply) => {
    const { pet, position } = await createPet(toNewPet(body), { traceparent: traceparentOf(headers) })
    await whenApplied(position, appliedWithinMs)
    reply.code(201).header('location', `/v1/pets/${pet.id}`).type(jsonType)
    return petDocument(pet)
  })

  app.get('/pets/:petId', { schema: getPetSchema, errorHandler: replyDeprecatedError }, async ({ params }, reply) => {
    const document = await pets.find(BigInt(params.petId))
    if (document === undefined) throw new ServiceError('pet_not_found', `There is no pet ${params.petId}.`)
    reply.headers(deprecationHeaders).type(jsonType)
    return document
  })
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
