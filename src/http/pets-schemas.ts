import { Type } from 'typebox'
import { Int64Schema, NewPetSchema, PetSchema, PetStatus } from '../domain/pet.ts'
import {
  answer,
  anyBody,
  anyOperation,
  asked,
  askedOfReads,
  error,
  header,
  headers,
  invalid,
  listQuery,
  noQuery,
  notModified,
  outcomeUnknown,
  secured,
  told,
  toldByPages,
  toldByReads,
  unavailable,
} from './schema-parts.ts'

const PetsSchema = Type.Array(PetSchema, { description: 'A list of animals' })

export const petSchemas = { Pet: PetSchema, NewPet: NewPetSchema, Pets: PetsSchema, PetStatus }
export const petsTag = { name: 'animals', description: 'The animals in the store' }

const shared = { ...secured, tags: [petsTag.name] }
const rex = { id: 1, name: 'Rex', categoryId: 7, status: 'available' }

export const listPetsSchema = {
  ...shared,
  operationId: 'listPets',
  summary: 'List all animals',
  description:
    'The animals in ascending order of id, page by page: as long as there is a next page, its address is in `Link`.',
  querystring: listQuery(PetStatus, 'animals'),
  headers: headers(askedOfReads),
  response: {
    ...anyOperation,
    200: answer('The list of animals', PetsSchema, [rex], toldByPages),
    400: invalid('query: limit must be <= 100'),
    503: unavailable('read_model_unavailable', 'The read model does not answer.'),
  },
}

export const createPetSchema = {
  ...shared,
  operationId: 'createPet',
  summary: 'Add an animal',
  description:
    'The animal is durable when this is answered. Without `status` it is `available`. With an `Idempotency-Key` the ' +
    'request can be sent again, as often as need be, and adds one animal.',
  querystring: noQuery,
  headers: headers({
    ...asked.idempotencyKey('get the animal of the first'),
    ...asked.token,
    ...asked.prefer('the animal can be read'),
  }),
  body: NewPetSchema,
  response: {
    ...anyOperation,
    ...anyBody,
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
    503: unavailable('event_log_unavailable', 'The event log does not answer; nothing was stored.'),
    504: outcomeUnknown('animal'),
  },
}

/** RFC 9745 (Deprecation), RFC 8594 (Sunset), RFC 8288 (Link), on every response of getPet. */
export const deprecationHeaders = {
  deprecation: `@${Date.parse('2026-11-20T00:00:00Z') / 1000}`,
  sunset: 'Thu, 05 Dec 2030 00:00:00 GMT',
  link: '</v1/pets>; rel="successor-version", </docs>; rel="deprecation"; type="text/html"',
} as const

const deprecation = {
  Deprecation: header('Since when it is deprecated (RFC 9745)', deprecationHeaders.deprecation),
  Sunset: header('When it is removed (RFC 8594)', deprecationHeaders.sunset),
  Link: header('The successor and the notice', deprecationHeaders.link),
}

function deprecated(responses: Record<string, { description: string; headers?: object }>) {
  const all = Object.entries(responses).map(([status, response]) => [
    status,
    { ...response, headers: { ...response.headers, ...deprecation } },
  ])
  return Object.fromEntries(all)
}

export const getPetSchema = {
  ...shared,
  operationId: 'getPet',
  summary: 'Get an animal',
  description: 'Will be removed on 5 December 2030. Use `GET /pets` with the `status` filter instead.',
  deprecated: true,
  params: Type.Object({ petId: Int64Schema({ description: 'Identifier of the animal', examples: [1] }) }),
  querystring: noQuery,
  headers: headers({ ...asked.ifNoneMatch, ...askedOfReads }),
  response: deprecated({
    ...anyOperation,
    200: answer('The requested animal', PetSchema, rex, { ...told.etag, ...toldByReads }),
    304: notModified,
    400: invalid('path: petId must be an integer from -9223372036854775808 to 9223372036854775807'),
    404: error('No such animal', 'pet_not_found', 'There is no pet 1.'),
    503: unavailable('read_model_rebuilding', 'The read model is being rebuilt.'),
  }),
}
