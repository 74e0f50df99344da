import { Type } from 'typebox'
import type { NamedResource } from '../../definition/kinds.ts'
import type { Texts } from '../../door/command.ts'
import { notFoundCode, notFoundError } from '../../door/errors.ts'
import type { Resource } from '../../door/service.ts'
import { type EngineErrorCode, type ErrorFacts, engineErrors } from '../../lib/errors/engine-errors.ts'
import { Int64Schema } from '../../lib/values/int64.ts'
import { unsupportedType } from '../values/request-values.ts'
import { challenge, header, headers, requestHeaders, retryAfter, taggedHeaders } from './header-schemas.ts'

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

export function notFoundAnswer(noun: string, id: number): Answer {
  const code = notFoundCode(noun)
  return errorsOf({ [code]: notFoundError(noun) })(`No such ${noun}`, code, `There is no ${noun} ${id}.`)
}

export const unavailable = (code: EngineErrorCode, message: string) =>
  error('Temporarily unavailable', code, message, retryAfter)
export const unreadable = unavailable('read_model_unavailable', 'The read model does not answer.')
export const rebuilding = unavailable('read_model_rebuilding', 'The read model is being rebuilt.')
export const invalid = (message: string) => error('Invalid request', 'invalid_request', message)
export const outcomeUnknownAnswer = (what: string, headers: object = {}) =>
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
export const anyWrite = {
  ...anyOperation,
  503: unavailable('event_log_unavailable', 'The event log does not answer; nothing was stored.'),
}

/** Answers of every command that has a body. */
export const anyCommand = {
  ...anyWrite,
  413: error(
    'Body, or the event that it leads to, larger than 16 KiB',
    'payload_too_large',
    'The body is larger than 16 KiB.',
  ),
  415: error('Body is not application/json', 'unsupported_media_type', unsupportedType('POST')),
}

const noQuery = Type.Object({}, { additionalProperties: false })

/** The common part of the schemas of all operations: what the document says, and whether it may still change. */
export function operation(resource: Pick<Resource, 'tag' | 'isBeta'>, texts: Texts) {
  const { operationId, summary, description = `${summary}.`, isBeta = resource.isBeta } = texts
  return {
    security: [{ apiKey: [] }],
    querystring: noQuery,
    tags: [resource.tag.name],
    ...{ operationId, summary, description },
    ...(isBeta ? { 'x-stability': 'beta' } : {}),
  }
}

/** The id in an example. */
export function idOf(example: object): number {
  return 'id' in example ? Number(example.id) : 0
}

export const invalidId = (resource: NamedResource) =>
  invalid(`path: ${resource.idName} must be an integer from -9223372036854775808 to 9223372036854775807`)

export function idParameter(resource: NamedResource) {
  const description = `Identifier of the ${resource.called.one}`
  return Type.Object({ [resource.idName]: Int64Schema({ description, examples: [idOf(resource.example)] }) })
}

/** A GET of one document by its id. */
export function findSchema(resource: NamedResource) {
  const { noun, find, schema, example, called } = resource
  return {
    ...operation(resource, find),
    params: idParameter(resource),
    headers: headers({ ...requestHeaders.ifNoneMatch, ...requestHeaders.consistency() }),
    response: {
      ...anyOperation,
      200: answer(find.answer ?? `The requested ${called.one}`, schema, example, taggedHeaders),
      304: { type: 'null', description: 'The client already has the current state', headers: taggedHeaders }, // no body
      400: invalidId(resource),
      404: notFoundAnswer(noun, idOf(example)),
      503: rebuilding,
    },
  }
}
