import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import { createPetIdempotency } from '../domain/idempotency.ts'
import {
  Int64Schema,
  type NewPet,
  NewPetSchema,
  type Pet,
  type PetId,
  PetSchema,
  PetStatus,
  petDocument,
  toNewPet,
} from '../domain/pet.ts'
import { type PetCommand, type PetState, petDecider } from '../domain/pet-stream.ts'
import { replyWithError } from './error-replies.ts'
import { readIdempotencyKey, readTraceparent } from './headers.ts'
import {
  createdBy,
  type Resource,
  type RouteServices,
  readAtLeast,
  readWait,
  replyWithCreated,
  replyWithDocument,
  replyWithPage,
  untilGone,
} from './resource.ts'
import {
  answer,
  anyCommand,
  anySchema,
  asked,
  error,
  finding,
  header,
  headers,
  invalid,
  listing,
  outcomeUnknown,
  told,
  unreadable,
} from './schema-parts.ts'

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
    traceparent: readTraceparent(request.headers.traceparent),
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

/** RFC 9745 (Deprecation), RFC 8594 (Sunset), RFC 8288 (Link), on every response of getPet. */
const deprecationHeaders = {
  deprecation: `@${Date.parse('2026-11-20T00:00:00Z') / 1000}`,
  sunset: 'Thu, 05 Dec 2030 00:00:00 GMT',
  link: '</v1/pets>; rel="successor-version", </docs>; rel="deprecation"; type="text/html"',
}

/** Errors of a deprecated operation say so as well, those of authentication included. */
function replyDeprecatedError(raised: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  return replyWithError(raised, request, reply.headers(deprecationHeaders))
}

const PetsSchema = Type.Array(PetSchema, { description: 'A list of animals' })

export const petSchemas = { Pet: PetSchema, NewPet: NewPetSchema, Pets: PetsSchema, PetStatus }
export const petsTag = { name: 'animals', description: 'The animals in the store' }

const tags = [petsTag.name]
const rex = { id: 1, name: 'Rex', categoryId: 7, status: 'available' }

const listPetsSchema = {
  ...listing('animals', PetStatus, { schema: PetsSchema, example: [rex], unavailable: unreadable }),
  tags,
  operationId: 'listPets',
  summary: 'List all animals',
  description:
    'The animals in ascending order of id, page by page: as long as there is a next page, its address is in `Link`.',
}

const createPetSchema = {
  ...anySchema,
  tags,
  operationId: 'createPet',
  summary: 'Add an animal',
  description:
    'The animal is durable when this is answered. Without `status` it is `available`. With an `Idempotency-Key` the ' +
    'request can be sent again, as often as need be, and adds one animal.',
  headers: headers({
    ...asked.idempotencyKey('get the animal of the first'),
    ...asked.consistency('the animal can be read'),
  }),
  body: NewPetSchema,
  response: {
    ...anyCommand,
    201: answer('Animal added; the body carries the assigned `id`', PetSchema, rex, {
      ...told.location('new animal', '/v1/pets/1'),
      ...told.etag,
      ...told.token('this animal'),
      ...told.replayed,
      'Read-Model-Applied': header(
        '`?1` if the animal can be read now, `?0` if not yet; not with an Idempotency-Key',
        '?1',
      ),
      ...told.preferenceApplied,
    }),
    400: invalid('body: name is required'),
    422: error('Another animal was sent under this key', 'idempotency_key_reused', 'Another pet was sent before.'),
    504: outcomeUnknown('animal'),
  },
}

const found = finding('animal', {
  idName: 'petId',
  schema: PetSchema,
  example: rex,
  notFound: error('No such animal', 'pet_not_found', 'There is no pet 1.'),
})
const getPetSchema = {
  ...found,
  tags,
  operationId: 'getPet',
  summary: 'Get an animal',
  description: 'Will be removed on 5 December 2030. Use `GET /pets` with the `status` filter instead.',
  deprecated: true,
  params: Type.Object({ petId: Int64Schema({ description: 'Identifier of the animal', examples: [1] }) }),
  response: deprecated(found.response),
}

function deprecated(responses: Record<string, { description: string; headers: object }>) {
  const deprecation = {
    Deprecation: header('Since when it is deprecated (RFC 9745)', deprecationHeaders.deprecation),
    Sunset: header('When it is removed (RFC 8594)', deprecationHeaders.sunset),
    Link: header('The successor and the notice', deprecationHeaders.link),
  }
  const all = Object.entries(responses).map(([status, response]) => [
    status,
    { ...response, headers: { ...response.headers, ...deprecation } },
  ])
  return Object.fromEntries(all)
}
