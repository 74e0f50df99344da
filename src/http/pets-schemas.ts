import { Type } from 'typebox'
import { Int64Schema, NewPetSchema, PetSchema, PetStatus } from '../domain/pet.ts'
import type { ErrorCode } from '../lib/errors.ts'
import { statusOf } from './error-status.ts'

export const pageLimit = { minimum: 1, maximum: 100, default: 20 } as const

export const PetsSchema = Type.Array(PetSchema, { description: 'A list of animals' })

export const ErrorSchema = Type.Object(
  {
    code: Type.String({
      description: 'Machine-readable error code, see docs/errors.md',
      examples: ['invalid_request'],
    }),
    message: Type.String({ description: 'Human-readable description' }),
    status: Type.Integer({ description: 'The HTTP status code', examples: [400] }),
  },
  { additionalProperties: false, description: 'What went wrong' },
)

const header = (description: string, rest: object = {}) => ({ type: 'string', description, ...rest })
const json = (schema: object, example?: unknown) => ({
  'application/json': { schema, ...(example ? { example } : {}) },
})

const rex = { id: 1, name: 'Rex', categoryId: 7, status: 'available' }

function error(description: string, code: ErrorCode, message: string, headers: object = {}) {
  return { description, headers, content: json(ErrorSchema, { code, message, status: statusOf[code] }) }
}

const unauthorized = error('API key missing or invalid', 'unauthorized', 'A valid API key is needed.', {
  'WWW-Authenticate': header('`Bearer realm="petstore"`, with `error="invalid_token"` when a key was sent'),
})
const internal = error('Unexpected error', 'internal_error', 'An unexpected error occurred.')
const anyOther = { description: 'Any other error', content: json(ErrorSchema) }
const invalid = (message: string) => error('Invalid request', 'invalid_request', message)
const unavailable = (code: ErrorCode, message: string) =>
  error('Not possible at the moment', code, message, {
    'Retry-After': { type: 'integer', description: 'Seconds to wait before the next try' },
  })

const token = 'ZTNiMDdiZmYtZjdiMS00YmZhLTkyYTctN2VmZmJlOThhNTQxOjA6Mjo3ZjUyNDA0Yg'
const prefer = (what: string) =>
  header(`\`wait=N\`: at most how many seconds, 0 to 10, to wait until ${what} (RFC 7240). Without it one second.`, {
    examples: ['wait=0'],
  })
const preferenceApplied = { 'Preference-Applied': header('`wait=N`, where the request said how long to wait') }
const readHeaders = {
  type: 'object',
  properties: {
    'Consistency-Token': header(
      'One or several of the tokens that createPet answered with, separated by commas: the answer has these animals in it.',
      { examples: [token] },
    ),
    Prefer: prefer('the answer has what the `Consistency-Token` stands for'),
  },
}

const shared = { tags: ['animals'], security: [{ apiKey: [] }] }
const noQuery = Type.Object({}, { additionalProperties: false })

export const listPetsSchema = {
  ...shared,
  operationId: 'listPets',
  summary: 'List all animals',
  description:
    'The animals in ascending order of id, page by page: as long as there is a next page, its address is in `Link`.',
  querystring: Type.Object(
    {
      limit: Type.Optional(Type.Integer({ ...pageLimit, description: 'Maximum number of animals returned' })),
      status: Type.Optional(PetStatus),
      cursor: Type.Optional(
        Type.String({ description: 'Where the page begins: taken from the `Link` of the page before' }),
      ),
    },
    { additionalProperties: false },
  ),
  headers: readHeaders,
  response: {
    200: {
      description: 'The list of animals',
      headers: { Link: header('The next page, if there is one (RFC 8288): `<…>; rel="next"`'), ...preferenceApplied },
      content: json(PetsSchema, [rex]),
    },
    400: invalid('query: limit must be <= 100'),
    401: unauthorized,
    500: internal,
    503: unavailable('read_model_unavailable', 'The read model does not answer.'),
    default: anyOther,
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
  headers: {
    type: 'object',
    properties: {
      'Idempotency-Key': header(
        'A string of 1 to 255 characters in double quotes. All requests of one API key with it get the animal of the first.',
        { examples: ['"8e03978e-40d5-43e8-bc93-6894a57f9324"'] },
      ),
      Prefer: prefer('the animal can be read'),
    },
  },
  body: NewPetSchema,
  response: {
    201: {
      description: 'Animal added; the body carries the assigned `id`',
      headers: {
        Location: header('The path of the new animal', { examples: ['/v1/pets/1'] }),
        'Consistency-Token': header('For a GET that is to show this animal, on any instance', { examples: [token] }),
        'Idempotency-Replayed': header('`true` where an earlier request added the animal'),
        ...preferenceApplied,
      },
      content: json(PetSchema, rex),
    },
    400: invalid('body: name is required'),
    401: unauthorized,
    413: error('Body larger than 16 KiB', 'payload_too_large', 'The body is larger than 16 KiB.'),
    415: error('Body not JSON by its type', 'unsupported_media_type', 'The body must be application/json.'),
    422: error('Another animal was sent under this key', 'idempotency_key_reused', 'Another pet was sent before.'),
    500: internal,
    503: unavailable('event_log_unavailable', 'The event log does not answer; nothing was stored.'),
    504: error('Outcome unknown', 'append_outcome_unknown', 'The animal may have been added, or be added later.'),
    default: anyOther,
  },
}

/** RFC 9745 (Deprecation), RFC 8594 (Sunset), RFC 8288 (Link), on every response of getPet. */
export const deprecationHeaders = {
  deprecation: `@${Date.parse('2026-11-20T00:00:00Z') / 1000}`,
  sunset: 'Thu, 05 Dec 2030 00:00:00 GMT',
  link: '</v1/pets>; rel="successor-version", </docs>; rel="deprecation"; type="text/html"',
} as const

const deprecation = {
  Deprecation: header('Since when it is deprecated (RFC 9745)', { examples: [deprecationHeaders.deprecation] }),
  Sunset: header('When it is removed (RFC 8594)', { examples: [deprecationHeaders.sunset] }),
  Link: header('The successor and the notice', { examples: [deprecationHeaders.link] }),
}
const deprecated = (response: { description: string; headers?: object; content: object }) => ({
  ...response,
  headers: { ...response.headers, ...deprecation },
})

export const getPetSchema = {
  ...shared,
  operationId: 'getPet',
  summary: 'Get an animal',
  description: 'Will be removed on 5 December 2030. Use `GET /pets` with the `status` filter instead.',
  deprecated: true,
  params: Type.Object({ petId: Int64Schema({ description: 'Identifier of the animal', examples: [1] }) }),
  querystring: noQuery,
  headers: readHeaders,
  response: {
    200: deprecated({ description: 'The requested animal', headers: preferenceApplied, content: json(PetSchema, rex) }),
    400: deprecated(invalid('path: petId must be an integer from -9223372036854775808 to 9223372036854775807')),
    401: deprecated(unauthorized),
    404: deprecated(error('No such animal', 'pet_not_found', 'There is no pet 1.')),
    500: deprecated(internal),
    503: deprecated(unavailable('read_model_rebuilding', 'The read model is being rebuilt.')),
    default: deprecated(anyOther),
  },
}
