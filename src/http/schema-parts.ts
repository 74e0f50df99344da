import { type TSchema, Type } from 'typebox'
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

export function error(description: string, code: ErrorCode, message: string, headers: object = {}): Answer {
  return answer(description, ErrorSchema, { code, message, status: statusOf(code) }, headers)
}

const retryAfter = { 'Retry-After': { type: 'integer', description: 'Seconds to wait before the next try' } }
const unavailable = (code: ErrorCode, message: string) => error('Not possible at the moment', code, message, retryAfter)
export const unreadable = unavailable('read_model_unavailable', 'The read model does not answer.')
export const rebuilding = unavailable('read_model_rebuilding', 'The read model is being rebuilt.')
export const invalid = (message: string) => error('Invalid request', 'invalid_request', message)
export const outcomeUnknown = (what: string, headers: object = {}) =>
  error('Outcome unknown', 'append_outcome_unknown', `The ${what} may have been stored, or be stored later.`, headers)

const challenge = header('`Bearer realm="petstore"`, with `error="invalid_token"` when a key was sent')
const lacking = 'This API key is not for this: it lacks the scope write.'
const tooMany = 'This API key has 1000 requests in flight already.'

/** What every operation may answer. */
const anyOperation = {
  401: error('API key missing or invalid', 'unauthorized', 'A valid API key is needed.', {
    'WWW-Authenticate': challenge,
  }),
  403: error('API key without the scope for this', 'insufficient_scope', lacking, {
    'WWW-Authenticate': header('`Bearer realm="petstore", error="insufficient_scope"`, with the scope that is needed'),
  }),
  429: error('Too many requests, in flight or in a time', 'too_many_requests', tooMany, retryAfter),
  500: error('Unexpected error', 'internal_error', 'An unexpected error occurred.'),
  default: { description: 'Any other error', headers: {}, content: { 'application/json': { schema: ErrorSchema } } },
}

/** What every command may answer. */
export const anyCommand = {
  ...anyOperation,
  413: error('Body larger than 16 KiB', 'payload_too_large', 'The body is larger than 16 KiB.'),
  415: error('Body not JSON by its type', 'unsupported_media_type', 'The body must be application/json.'),
  503: unavailable('event_log_unavailable', 'The event log does not answer; nothing was stored.'),
}

const token = 'ZTNiMDdiZmYtZjdiMS00YmZhLTkyYTctN2VmZmJlOThhNTQxOjA6Mjo3ZjUyNDA0Yg'
const tag = '"e3b07bff-pets-4.orders-1-2"'
const condition = (what: string) => header(`\`*\` or a list of entity tags: ${what} (RFC 9110)`)
const tokens = 'One or several of the tokens of earlier answers, separated by commas'

/** Optional headers of requests. They have no examples: viewers would send those, and no token, tag or key of ours fits. */
export const asked = {
  idempotencyKey: (what: string) => ({
    'Idempotency-Key': header(
      `A string of 1 to 255 characters in double quotes. All requests of one API key with it ${what}.`,
    ),
  }),
  ifMatch: { 'If-Match': condition('412 unless one is of the present state') },
  ifNoneMatch: { 'If-None-Match': condition('304 if one is of the present state') },
  consistency: (awaited = 'the answer has what the `Consistency-Token` stands for') => ({
    'Consistency-Token': header(`${tokens}: this answer is at least as new as those.`),
    Prefer: header(
      `\`wait=N\`: at most how many seconds, 0 to 10, to wait until ${awaited} (RFC 7240). Without it one second.`,
    ),
  }),
}
export const headers = (properties: object) => ({ type: 'object', properties })

/** Headers of responses. */
const told = {
  token: (what: string) => ({ 'Consistency-Token': header(`For requests that are to see ${what}, anywhere`, token) }),
  etag: { ETag: header('Of this state, and never of another one (RFC 9110)', tag) },
  replayed: { 'Idempotency-Replayed': header('`true` where this is the answer to an earlier request once more') },
  preferenceApplied: { 'Preference-Applied': header('`wait=N`, where the request said how long to wait') },
}
const toldByReads = { ...told.token('nothing older, where the request had one'), ...told.preferenceApplied }
export const location = (what: string, path: string) => ({ Location: header(`The path of the ${what}`, path) })
export const toldByCommand = (what: string, more: object = {}) => ({
  ...told.etag,
  ...told.token(`this ${what}`),
  ...more,
  ...told.preferenceApplied,
})
export const toldOfNew = (noun: string, path: string, more: object = {}) => ({
  ...location(`new ${noun}`, path),
  ...toldByCommand(noun, { ...told.replayed, ...more }),
})

/** What is the same in the schemas of all operations. */
export const anySchema = { security: [{ apiKey: [] }], querystring: Type.Object({}, { additionalProperties: false }) }

/** A GET of a page of documents. */
export function listing<Status extends TSchema>(
  noun: string,
  status: Status,
  { schema, example, unavailable }: { schema: object; example: unknown; unavailable: Answer },
) {
  const next = header('The next page, if there is one (RFC 8288): `<…>; rel="next"`')
  const cursor = Type.String({ description: 'Where the page begins: taken from the `Link` of the page before' })
  const limit = Type.Integer({ ...pageLimit, description: `Maximum number of ${noun} returned` })
  return {
    ...anySchema,
    querystring: Type.Object(
      { limit: Type.Optional(limit), status: Type.Optional(status), cursor: Type.Optional(cursor) },
      { additionalProperties: false },
    ),
    headers: headers(asked.consistency()),
    response: {
      ...anyOperation,
      200: answer(`The list of ${noun}`, schema, example, { Link: next, ...toldByReads }),
      400: invalid('query: limit must be <= 100'),
      503: unavailable,
    },
  }
}

/** A GET of one document by its id. */
export function finding(
  noun: string,
  { idName, schema, example, notFound }: { idName: string; schema: object; example: unknown; notFound: Answer },
) {
  const tagged = { ...told.etag, ...toldByReads }
  return {
    ...anySchema,
    headers: headers({ ...asked.ifNoneMatch, ...asked.consistency() }),
    response: {
      ...anyOperation,
      200: answer(`The requested ${noun}`, schema, example, tagged),
      304: { type: 'null', description: 'The client has it as it is already', headers: tagged }, // no body
      400: invalid(`path: ${idName} must be an integer from -9223372036854775808 to 9223372036854775807`),
      404: notFound,
      503: rebuilding,
    },
  }
}
