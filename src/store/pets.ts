import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import { createPetIdempotency } from './idempotency.ts'
import {
  Int64Schema,
  type NewPet,
  NewPetSchema,
  type PetId,
  PetSchema,
  PetStatus,
  petDocument,
  toNewPet,
} from './pet.ts'
import type { PetCommand } from './pet-stream.ts'
import { holderOf, requireScope } from '../engine/http/auth.ts'
import { checkConditions, readConditions } from '../engine/http/conditions.ts'
import { replyWithError } from '../engine/http/error-replies.ts'
import * as fields from '../engine/http/header-schemas.ts'
import { readIdempotencyKey } from '../engine/http/headers.ts'
import { admitBody } from '../engine/http/messages.ts'
import {
  created,
  handle,
  type Resource,
  type RouteServices,
  readExchange,
  replyWithCreated,
  replyWithDocument,
  replyWithPage,
} from '../engine/http/resource.ts'
import * as doc from '../engine/http/schema-parts.ts'

const reading = requireScope('read')
export const pets: Resource = { collection: 'pets', path: '/v1/pets', list: '', noun: 'pet' }

/** The operations of the specification. */
export function addPetRoutes(instance: FastifyInstance, services: RouteServices): void {
  const app = instance.withTypeProvider<TypeBoxTypeProvider>()

  app.get('/pets', { schema: listPetsSchema, onRequest: reading }, (request, reply) =>
    replyWithPage(services, pets, request.query, reply),
  )
  app.post('/pets', { schema: createPetSchema, onRequest: [requireScope('write'), admitBody] }, (request, reply) =>
    createPet(services, toNewPet(request.body), reply),
  )
  const deprecation = deprecationHeaders(instance.basePath)
  // Errors of a deprecated operation carry these headers too, including those of authentication.
  const errorHandler = (raised: unknown, request: FastifyRequest, reply: FastifyReply) =>
    replyWithError(raised, request, reply.headers(deprecation))
  app.get('/pets/:petId', { schema: getPetSchema, onRequest: reading, errorHandler }, (request, reply) =>
    replyWithDocument(services, pets, request.params.petId, reply.headers(deprecation)),
  )
}

async function createPet(services: RouteServices, newPet: NewPet, reply: FastifyReply): Promise<string> {
  const { headers } = reply.request
  const { owner } = holderOf(reply.request)
  const key = readIdempotencyKey(headers['idempotency-key'])
  checkConditions(readConditions(headers))
  // With a key, Prefer has no effect: only once the key is decided is it known which pet the request gets.
  const exchange = readExchange(services, pets, reply, { waitsAsPreferred: key === undefined })
  const idempotency = key === undefined ? undefined : createPetIdempotency(owner, key, newPet)
  const command = (id: number): PetCommand => ({ type: 'createPet', id: id as PetId, newPet })
  const add = () => handle(exchange, command, { stream: 'new', idempotency })
  const handled = created(await (services.petQuota?.count(reply, idempotency?.key, add) ?? add()))
  if (handled.outcome === 'applied' && key === undefined) {
    reply.header('read-model-applied', handled.isReadable ? '?1' : '?0')
  }
  const pet = handled.outcome === 'replayed' ? { id: handled.record.id as PetId, ...newPet } : handled.state.pet
  return replyWithCreated(exchange, handled, { id: pet.id, json: petDocument(pet) })
}

/** RFC 9745 (Deprecation), RFC 8594 (Sunset), RFC 8288 (Link), on every response of getPet. */
const deprecationHeaders = (basePath: string) => ({
  deprecation: `@${Date.parse('2026-11-20T00:00:00Z') / 1000}`,
  sunset: 'Thu, 05 Dec 2030 00:00:00 GMT',
  link: `<${basePath}/v1/pets>; rel="successor-version", <${basePath}/docs>; rel="deprecation"; type="text/html"`,
})

export const petSchemas = {
  Pet: PetSchema,
  PetInput: NewPetSchema,
  Pets: Type.Array(PetSchema, { description: 'A list of animals' }),
  PetStatus,
}
export const petsTag = { name: 'animals', description: 'The animals in the store' }

const tags = [petsTag.name]
const rex = { id: 1, name: 'Rex', categoryId: 7, status: 'available' }

const listPetsSchema = {
  ...doc.listSchema('animals', PetStatus, { schema: petSchemas.Pets, example: [rex], unavailable: doc.unreadable }),
  tags,
  operationId: 'listPets',
  summary: 'List all animals',
  description: 'Pets in ascending order of id, page by page. `Link` has the address of the next page, if there is one.',
}

const isReadable = '`?1` if the pet can be read now, `?0` if not yet; absent with an Idempotency-Key'
const createdHeaders = fields.createdHeaders('pet', '/v1/pets/1', {
  'Read-Model-Applied': fields.header({ pattern: String.raw`^\?[01]$` }, isReadable, '?1'),
})
const createPetSchema = {
  ...doc.anySchema,
  tags,
  operationId: 'createPet',
  summary: 'Add an animal',
  description:
    'The pet is durable when this is answered. Without `status` it is `available`. With an `Idempotency-Key` the ' +
    'request can be repeated any number of times, and adds one pet.',
  headers: fields.headers({
    ...fields.requestHeaders.idempotencyKey('get the pet of the first'),
    ...fields.requestHeaders.consistency('the pet can be read'),
  }),
  body: NewPetSchema,
  response: {
    ...doc.anyCommand,
    201: doc.answer('Animal added; the body carries the assigned `id`', PetSchema, rex, createdHeaders),
    400: doc.invalid('body: name is required'),
    422: doc.error(
      'This key was used for another pet',
      'idempotency_key_reused',
      'This Idempotency-Key was already used for a different request.',
    ),
    504: doc.outcomeUnknown('pet'),
  },
}

const notFound = doc.notFound('pet', 1)
const findPet = doc.findSchema('animal', { idName: 'petId', schema: PetSchema, example: rex, notFound })
const getPetSchema = {
  ...findPet,
  tags,
  operationId: 'getPet',
  summary: 'Get an animal',
  description:
    'Will be removed on 5 December 2030, in favour of `GET /pets` with the `status` filter. That list cannot find one pet ' +
    'yet; a later release lets it, by `?id=`. Until the removal, `Location` leads here.',
  deprecated: true,
  params: Type.Object({ petId: Int64Schema({ description: 'Identifier of the animal', examples: [1] }) }),
  response: deprecated(findPet.response),
}

function deprecated(responses: Record<string, { headers: object }>) {
  const { deprecation: since, sunset, link } = deprecationHeaders('')
  const deprecation = {
    Deprecation: fields.header({ pattern: '^@[0-9]+$' }, 'Date since which it is deprecated (RFC 9745)', since),
    Sunset: fields.header(
      { pattern: '^[A-Z][a-z]{2}, [0-9]{2} [A-Z][a-z]{2} [0-9]{4} [0-9:]{8} GMT$' },
      'Date of its removal (RFC 8594)',
      sunset,
    ),
    Link: fields.header(
      { pattern: '^<[^>]*>; rel=' },
      'Links to the successor, to the deprecation notice and to what an error means',
      link,
    ),
  }
  const also = ({ headers, ...response }: { headers: object }) => ({
    ...response,
    headers: { ...headers, ...deprecation },
  })
  // Not for `default`: ogen takes it for another answer with the same headers and body, and what it makes does not compile.
  const { default: other, ...known } = responses
  return {
    ...Object.fromEntries(Object.entries(known).map(([status, response]) => [status, also(response)])),
    default: other,
  }
}
