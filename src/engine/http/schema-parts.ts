import { type TProperties, type TSchema, Type } from 'typebox'
import { notFoundCode, notFoundError } from '../definition/errors.ts'
import { type EngineErrorCode, type ErrorFacts, engineErrors } from '../lib/engine-errors.ts'
import { challenge, header, headers, pageHeaders, requestHeaders, retryAfter, taggedHeaders } from './header-schemas.ts'

export const pageLimit = { minimum: 1, maximum: 100, default: 20 } as const

/** The document adds the codes of the service that it describes. */
export const ErrorCodeSchema = Type.String({
  description: 'Machine-readable error code. [The page of errors](docs/errors) says what each means.',
  examples: ['invalid_request'],
})

export const ErrorSchema = Type.Object(
  {
    code: ErrorCodeSchema,
    message: Type.String({ description: 'Human-readable description' }),
    status: Type.Integer({ description: 'The HTTP status code', examples: [400] }),
  },
  { additionalProperties: false, description: 'What went wrong' },
)

/** A response with a JSON body. */
export function answer(description: string, schema: object, example: unknown, headers: object = {}) {
  return { description, headers, content: { 'application/json': { schema, example } } }
}
type Answer = ReturnType<typeof answer>

const help = {
  Link: header({ pattern: '^<[^>]*>; rel="help"$' }, 'What the error code means (RFC 8288): `<…>; rel="help"`'),
}

/** Answers with errors of a table. */
export function errorsOf<Code extends string>(table: Readonly<Record<Code, Pick<ErrorFacts, 'status'>>>) {
  return (description: string, code: Code, message: string, headers: object = {}): Answer =>
    answer(description, ErrorSchema, { code, message, status: table[code].status }, { ...headers, ...help })
}
export const error = errorsOf(engineErrors)

export function notFound(noun: string, id: number): Answer {
  const code = notFoundCode(noun)
  return errorsOf({ [code]: notFoundError(noun) })(`No such ${noun}`, code, `There is no ${noun} ${id}.`)
}

export const unavailable = (code: EngineErrorCode, message: string) =>
  error('Temporarily unavailable', code, message, retryAfter)
export const unreadable = unavailable('read_model_unavailable', 'The read model does not answer.')
export const rebuilding = unavailable('read_model_rebuilding', 'The read model is being rebuilt.')
export const invalid = (message: string) => error('Invalid request', 'invalid_request', message)
export const outcomeUnknown = (what: string, headers: object = {}) =>
  error('Outcome unknown', 'append_outcome_unknown', `The ${what} may have been stored, or be stored later.`, headers)

const lacking = 'This API key lacks the scope write.'
const tooMany = 'This API key already has 1000 requests in flight.'

/** Answers of every operation. */
export const anyOperation = {
  401: error('API key missing or invalid', 'unauthorized', 'A valid API key is needed.', {
    'WWW-Authenticate': challenge('with `error="invalid_token"` when a key was sent'),
  }),
  403: error('API key without the required scope', 'insufficient_scope', lacking, {
    'WWW-Authenticate': challenge('with `error="insufficient_scope"` and the required scope'),
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

/** The common part of the schemas of all operations. */
export const anySchema = { security: [{ apiKey: [] }], querystring: Type.Object({}, { additionalProperties: false }) }

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
  return {
    ...anySchema,
    headers: headers({ ...requestHeaders.ifNoneMatch, ...requestHeaders.consistency() }),
    response: {
      ...anyOperation,
      200: answer(`The requested ${noun}`, schema, example, taggedHeaders),
      304: { type: 'null', description: 'The client already has the current state', headers: taggedHeaders }, // no body
      400: invalid(`path: ${idName} must be an integer from -9223372036854775808 to 9223372036854775807`),
      404: notFound,
      503: rebuilding,
    },
  }
}
