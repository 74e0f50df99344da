import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { createPetIdempotency } from '../domain/idempotency.ts'
import { type NewPet, type Pet, type PetId, petDocument, toNewPet } from '../domain/pet.ts'
import { type PetCommand, type PetState, petDecider } from '../domain/pet-stream.ts'
import { readAtLeast, readWait, untilGone } from './consistency.ts'
import { replyWithError } from './error-replies.ts'
import { readIdempotencyKey } from './idempotency-key.ts'
import { createPetSchema, deprecationHeaders, getPetSchema, listPetsSchema } from './pets-schemas.ts'
import { type Resource, replyWithDocument, replyWithPage } from './reading.ts'
import type { RouteServices } from './services.ts'
import { traceparentOf } from './trace-context.ts'
import { createdBy, replyWithCreated } from './writing.ts'

const pets: Resource = { collection: 'pets', path: '/v1/pets', list: '', noun: 'pet', notFound: 'pet_not_found' }

/** The operations of the specification. */
export function addPetRoutes(instance: FastifyInstance, services: RouteServices): void {
  const app = instance.withTypeProvider<TypeBoxTypeProvider>()

  app.get('/pets', { schema: listPetsSchema }, (request, reply) =>
    replyWithPage(services, pets, request.query, request, reply),
  )
  app.post('/pets', { schema: createPetSchema }, (request, reply) =>
    createPet(services, toNewPet(request.body), request, reply),
  )
  app.get('/pets/:petId', { schema: getPetSchema, errorHandler: replyDeprecatedError }, (request, reply) =>
    replyWithDocument(services, pets, request.params.petId, request, reply.headers(deprecationHeaders)),
  )
}

async function createPet(
  services: RouteServices,
  newPet: NewPet,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<string> {
  const key = readIdempotencyKey(request.headers['idempotency-key'])
  // With a key, Prefer says nothing: only once the key is decided is it known which pet the request gets.
  const wait = key === undefined ? readWait(request, reply) : untilGone(reply)
  const atLeast = readAtLeast(services.log, request, reply)
  const command = (id: number): PetCommand => ({ type: 'createPet', id: id as PetId, newPet })
  const handled = await services.commands.handle(petDecider, command, {
    stream: 'new',
    idempotency: key === undefined ? undefined : createPetIdempotency(request.apiKeyId, key, newPet),
    traceparent: traceparentOf(request.headers),
    atLeast,
    wait,
  })
  const created = createdBy(handled)
  const isReplayed = created.outcome === 'replayed'
  const pet = isReplayed ? { id: created.record.id as PetId, ...newPet } : petIn(created)
  if (!isReplayed && key === undefined) reply.header('read-model-applied', created.isReadable ? '?1' : '?0')
  return replyWithCreated(services, pets, created, { id: pet.id, json: petDocument(pet) }, atLeast, reply)
}

function petIn({ state }: { readonly state: PetState | undefined }): Pet {
  if (state === undefined) throw new Error('a pet that was created is not there')
  return state.pet
}

/** Errors of a deprecated operation say so as well, those of authentication included. */
function replyDeprecatedError(error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  return replyWithError(error, request, reply.headers(deprecationHeaders))
}
