import { type TProperties, type TSchema, Type } from 'typebox'
import { type ErrorCode, errorFacts } from '../lib/errors.ts'
import { statusOf } from './error-replies.ts'

export const pageLimit = { minimum: 1, maximum: 100, default: 20 } as const

export const ErrorSchema = Type.Object(
  {
    code: Type.Enum(Object.keys(errorFacts) as ErrorCode[], {
      type: 'string',
      description: 'Machine-readable error code. [The page of errors](/docs/errors) says what each means.',
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
type Answer = ReturnType<typeof answer>

const help = { Link: header('What the error code means (RFC 8288): `<…>; rel="help"`') }

export function error(description: string, code: ErrorCode, message: string, headers: object = {}): Answer {
  return answer(description, ErrorSchema, { code, message, status: statusOf(code) }, { ...headers, ...help })
}

const retryAfter = { 'Retry-After': { type: 'integer', description: 'Seconds to wait before the next attempt' } }
export const unavailable = (code: ErrorCode, message: string) =>
  error('Temporarily unavailable', code, message, retryAfter)
export const unreadable = unavailable('read_model_unavailable', 'The read model does not answer.')
export const rebuilding = unavailable('read_model_rebuilding', 'The read model is being rebuilt.')
export const invalid = (message: string) => error('Invalid request', 'invalid_request', message)
export const outcomeUnknown = (what: string, headers: object = {}) =>
  error('Outcome unknown', 'append_outcome_unknown', `The ${what} may have been stored, or be stored later.`, headers)

const challenge = header('`Bearer realm="petstore"`, with `error="invalid_token"` when a key was sent')
const lacking = 'This API key lacks the scope write.'
const tooMany = 'This API key already has 1000 requests in flight.'

/** Answers of every operation. */
export const anyOperation = {
  401: error('API key missing or invalid', 'unauthorized', 'A valid API key is needed.', {
    'WWW-Authenticate': challenge,
  }),
  403: error('API key without the required scope', 'insufficient_scope', lacking, {
    'WWW-Authenticate': header('`Bearer realm="petstore", error="insufficient_scope"`, with the required scope'),
  }),
  429: error(
    'Too many concurrent requests, or too many requests in a period',
    'too_many_requests',
    tooMany,
    retryAfter,
  ),
  500: error('Unexpected error', 'internal_error', 'An unexpected error occurred.'),
  default: { description: 'Any other error', headers: help, content: { 'application/json': { schema: ErrorSchema } } },
}

/** Answers of every command. */
export const anyCommand = {
  ...anyOperation,
  413: error('Body larger than 16 KiB', 'payload_too_large', 'The body is larger than 16 KiB.'),
  415: error('Body is not application/json', 'unsupported_media_type', 'The body must be application/json.'),
  503: unavailable('event_log_unavailable', 'The event log does not answer; nothing was stored.'),
}

const token = 'ZTNiMDdiZmYtZjdiMS00YmZhLTkyYTctN2VmZmJlOThhNTQxOjA6Mjo3ZjUyNDA0Yg'
const tag = '"e3b07bff-pets-5.orders-1-2"'
const condition = (what: string) => header(`\`*\` or a list of entity tags: ${what} (RFC 9110)`)
const tokens = 'One or several tokens from earlier answers, separated by commas'

/** Optional headers of requests. They have no examples: viewers would send those, and no token, tag or key of ours fits. */
export const requestHeaders = {
  idempotencyKey: (what: string) => ({
    'Idempotency-Key': header(
      `A string of 1 to 255 characters in double quotes. All requests of one API key with the same string ${what}.`,
    ),
  }),
  ifMatch: { 'If-Match': condition('412 unless one of them is the current tag') },
  ifNoneMatch: { 'If-None-Match': condition('304 if one of them is the current tag') },
  consistency: (awaited = 'the answer includes what the `Consistency-Token` stands for') => ({
    'Consistency-Token': header(`${tokens}: the answer is at least as new as all of them.`),
    Prefer: header(
      `\`wait=N\` waits up to N seconds, 0 to 10, until ${awaited} (RFC 7240). The default is one second.`,
    ),
  }),
}
export const headers = (properties: object) => ({ type: 'object', properties })

/** Headers of responses. */
const responseHeaders = {
  token: (what: string) => ({
    'Consistency-Token': header(`Pass it to requests that must see ${what}, on any instance`, token),
  }),
  etag: {
    ETag: header('Identifies this state: no other has it, and a state that comes back has it again (RFC 9110)', tag),
  },
  replayed: { 'Idempotency-Replayed': header('`true` if this repeats the answer to an earlier request') },
  preferenceApplied: { 'Preference-Applied': header('`wait=N`, if the request said how long to wait') },
}
const readHeaders = {
  ...responseHeaders.token('nothing older than this answer; sent if the request had one'),
  ...responseHeaders.preferenceApplied,
}
export const location = (what: string, path: string) => ({ Location: header(`The path of the ${what}`, path) })
export const commandHeaders = (what: string, more: object = {}) => ({
  ...responseHeaders.etag,
  ...responseHeaders.token(`this ${what}`),
  ...more,
  ...responseHeaders.preferenceApplied,
})
export const createdHeaders = (noun: string, path: string, more: object = {}) => ({
  ...location(`new ${noun}`, path),
  ...commandHeaders(noun, { ...responseHeaders.replayed, ...more }),
})

/** The common part of the schemas of all operations. */
export const anySchema = { security: [{ apiKey: [] }], querystring: Type.Object({}, { additionalProperties: false }) }

const next = header('The next page, if there is one (RFC 8288): `<…>; rel="next"`')
export const pageHeaders = { Link: next, ...readHeaders }

/** The query of a GET of a page; `filters`, where the list has some. */
export function pageQuery<Filters extends TProperties>(noun: string, filters: Filters = {} as Filters) {
  const cursor = Type.String({ description: 'Where the page begins: taken from the `Link` of the page before' })
  const limit = Type.Integer({ ...pageLimit, description: `Maximum number of ${noun} returned` })
  return Type.Object(
    { limit: Type.Optional(limit), ...filters, cursor: Type.Optional(cursor) },
    { additionalProperties: false },
  )
}

/** A GET of a page of documents. */
export function listSchema<Status extends TSchema>(
  noun: string,
  status: Status,
  { schema, example, unavailable }: { schema: object; example: unknown; unavailable: Answer },
) {
  return {
    ...anySchema,
    querystring: pageQuery(noun, { status: Type.Optional(status) }),
    headers: headers(requestHeaders.consistency()),
    response: {
      ...anyOperation,
      200: answer(`The list of ${noun}`, schema, example, pageHeaders),
      400: invalid('query: limit must be <= 100'),
      503: unavailable,
    },
  }
}

/** A GET of one document by its id. */
export function findSchema(
  noun: string,
  { idName, schema, example, notFound }: { idName: string; schema: object; example: unknown; notFound: Answer },
) {
  const tagged = { ...responseHeaders.etag, ...readHeaders }
  return {
    ...anySchema,
    headers: headers({ ...requestHeaders.ifNoneMatch, ...requestHeaders.consistency() }),
    response: {
      ...anyOperation,
      200: answer(`The requested ${noun}`, schema, example, tagged),
      304: { type: 'null', description: 'The client already has the current state', headers: tagged }, // no body
      400: invalid(`path: ${idName} must be an integer from -9223372036854775808 to 9223372036854775807`),
      404: notFound,
      503: rebuilding,
    },
  }
}
