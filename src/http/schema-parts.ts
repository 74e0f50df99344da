import { type TSchema, Type } from 'typebox'
import type { ErrorCode } from '../lib/errors.ts'
import { statusOf } from './error-status.ts'

export const pageLimit = { minimum: 1, maximum: 100, default: 20 } as const

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

/** A header of a request or of a response. */
export const header = (description: string, example?: string) => ({
  type: 'string',
  description,
  ...(example === undefined ? {} : { examples: [example] }),
})

/** A response with a JSON body. */
export function answer(description: string, schema: object, example: unknown, headers: object = {}) {
  return { description, headers, content: { 'application/json': { schema, example } } }
}

export function error(description: string, code: ErrorCode, message: string, headers: object = {}) {
  return answer(description, ErrorSchema, { code, message, status: statusOf[code] }, headers)
}

export const invalid = (message: string) => error('Invalid request', 'invalid_request', message)
export const unavailable = (code: ErrorCode, message: string) =>
  error('Not possible at the moment', code, message, retryAfter)
const retryAfter = { 'Retry-After': { type: 'integer', description: 'Seconds to wait before the next try' } }

/** What every operation may answer. */
export const anyOperation = {
  401: error('API key missing or invalid', 'unauthorized', 'A valid API key is needed.', {
    'WWW-Authenticate': header('`Bearer realm="petstore"`, with `error="invalid_token"` when a key was sent'),
  }),
  429: error(
    'Too many requests in flight',
    'too_many_requests',
    'This API key has 1000 requests in flight already.',
    retryAfter,
  ),
  500: error('Unexpected error', 'internal_error', 'An unexpected error occurred.'),
  default: { description: 'Any other error', headers: {}, content: { 'application/json': { schema: ErrorSchema } } },
}

/** What every operation with a body may answer. */
export const anyBody = {
  413: error('Body larger than 16 KiB', 'payload_too_large', 'The body is larger than 16 KiB.'),
  415: error('Body not JSON by its type', 'unsupported_media_type', 'The body must be application/json.'),
}

export const outcomeUnknown = (what: string, headers: object = {}) =>
  error('Outcome unknown', 'append_outcome_unknown', `The ${what} may have been stored, or be stored later.`, headers)

export const secured = { security: [{ apiKey: [] }] }
export const noQuery = Type.Object({}, { additionalProperties: false })

export function listQuery<Status extends TSchema>(status: Status, noun: string) {
  return Type.Object(
    {
      limit: Type.Optional(Type.Integer({ ...pageLimit, description: `Maximum number of ${noun} returned` })),
      status: Type.Optional(status),
      cursor: Type.Optional(
        Type.String({ description: 'Where the page begins: taken from the `Link` of the page before' }),
      ),
    },
    { additionalProperties: false },
  )
}

const token = 'ZTNiMDdiZmYtZjdiMS00YmZhLTkyYTctN2VmZmJlOThhNTQxOjA6Mjo3ZjUyNDA0Yg'
const tag = '"e3b07bff-pets-3.orders-1-2"'

const condition = (what: string) => header(`\`*\` or a list of entity tags: ${what} (RFC 9110)`, tag)
const tokens = header(
  'One or several of the tokens of earlier answers, separated by commas: this answer is at least as new as those.',
  token,
)

/** Headers of requests. */
export const asked = {
  prefer: (what: string) => ({
    Prefer: header(
      `\`wait=N\`: at most how many seconds, 0 to 10, to wait until ${what} (RFC 7240). Without it one second.`,
      'wait=0',
    ),
  }),
  idempotencyKey: (what: string) => ({
    'Idempotency-Key': header(
      `A string of 1 to 255 characters in double quotes. All requests of one API key with it ${what}.`,
      '"8e03978e-40d5-43e8-bc93-6894a57f9324"',
    ),
  }),
  ifMatch: { 'If-Match': condition('412 unless one is of the present state') },
  ifNoneMatch: { 'If-None-Match': condition('304 if one is of the present state') },
  token: { 'Consistency-Token': tokens },
}
export const askedOfReads = {
  ...asked.token,
  ...asked.prefer('the answer has what the `Consistency-Token` stands for'),
}
export const headers = (properties: object) => ({ type: 'object', properties })

/** Headers of responses. */
export const told = {
  token: (what: string) => ({ 'Consistency-Token': header(`For requests that are to see ${what}, anywhere`, token) }),
  etag: { ETag: header('Of this state, and never of another one (RFC 9110)', tag) },
  location: (what: string, example: string) => ({ Location: header(`The path of the ${what}`, example) }),
  replayed: { 'Idempotency-Replayed': header('`true` where this is the answer to an earlier request once more') },
  preferenceApplied: { 'Preference-Applied': header('`wait=N`, where the request said how long to wait') },
}
export const toldByReads = {
  ...told.token('nothing older, where the request had one'),
  ...told.preferenceApplied,
}
export const notModified = {
  type: 'null', // no body
  description: 'The client has it as it is already',
  headers: { ...told.etag, ...toldByReads },
}
export const toldByPages = {
  Link: header('The next page, if there is one (RFC 8288): `<…>; rel="next"`'),
  ...toldByReads,
}
