import type { FastifyReply, FastifyRequest, HTTPMethods } from 'fastify'
import type { ErrorTable } from '../../door/errors.ts'
import { type EngineErrorCode, type ErrorFacts, engineErrors } from '../../lib/errors/engine-errors.ts'
import { messageOf, ServiceError } from '../../lib/errors/errors.ts'
import { loggedPath } from '../values/messages.ts'
import { patchTypes, unsupportedType } from '../values/request-values.ts'
import { countError } from './traffic.ts'

declare module 'fastify' {
  interface FastifyInstance {
    /** All errors that may be answered. */
    errors: ErrorTable
    /** Where clients find the page that explains each error; undefined where it is not served. */
    errorsPage: string | undefined
  }
}

/** The link to what an error code means (RFC 8288). */
export function helpLink(errorsPage: string, code: string): string {
  return `<${errorsPage}#${code}>; rel="help"`
}

/** Headers of every JSON answer. */
export const jsonType = 'application/json; charset=utf-8'

/** Headers that every answer sends to browsers: those that matter for an API, whose answers are not pages (decision 0035). */
export const securityHeaders: Readonly<Record<string, string>> = {
  'content-security-policy': "default-src 'none';frame-ancestors 'none'",
  'x-content-type-options': 'nosniff',
}

export type Refusal = readonly [EngineErrorCode, message: string]

/** The answers for errors that Fastify and Node's HTTP parser raise about a request, by their codes. */
const problemByCode = new Map<string, Refusal>([
  ['FST_ERR_BAD_URL', ['invalid_request', 'The URL is malformed.']],
  ['FST_ERR_MAX_PARAM_LENGTH', ['invalid_request', 'The path is too long.']],
  ['FST_ERR_CTP_BODY_TOO_LARGE', ['payload_too_large', 'The body is larger than 16 KiB.']],
  ['FST_ERR_CTP_INVALID_CONTENT_LENGTH', ['invalid_request', 'The length of the body differs from Content-Length.']],
  ['ERR_HTTP_REQUEST_TIMEOUT', ['request_timeout', 'The request did not arrive in time.']],
  [
    'HPE_HEADER_OVERFLOW',
    [
      'headers_too_large',
      'The request line and headers, or the trailers, are larger than 16 KiB, or there are more than 200 headers.',
    ],
  ],
  ['HPE_CHUNK_EXTENSIONS_OVERFLOW', ['payload_too_large', 'The chunk extensions are too large.']],
])

/** What to answer to what Fastify or Node's HTTP parser raised about a request; undefined for anything else. */
export function problemWith(raised: unknown, method = ''): Refusal | undefined {
  const code = raised instanceof Error && 'code' in raised ? String(raised.code) : ''
  if (code === 'FST_ERR_CTP_INVALID_MEDIA_TYPE') return ['unsupported_media_type', unsupportedType(method)]
  return problemByCode.get(code)
}

/** The error to answer with, and its facts. A code that is not in the table is a bug, as is an error without a code. */
function toServiceError(raised: unknown, method: string, errors: ErrorTable): readonly [ServiceError, ErrorFacts] {
  if (raised instanceof ServiceError) {
    const facts = errors.get(raised.code)
    return facts === undefined ? toProblem(unknownCode(raised)) : [raised, facts]
  }
  return toProblem(raised, problemWith(raised, method))
}

const bug: Refusal = ['internal_error', 'An unexpected error occurred.']

/** The client learns no details of a bug, and `cause` keeps them for the log. */
function toProblem(cause: unknown, [code, message] = bug): readonly [ServiceError, ErrorFacts] {
  const thrown = cause instanceof Error ? cause : new Error(`${messageOf(cause)} was thrown, which is no Error`)
  return [new ServiceError(code, message, { cause: thrown }), engineErrors[code]]
}

function unknownCode(raised: ServiceError): Error {
  return new Error(`the code ${raised.code} is not among the errors of the service`, { cause: raised })
}

/** The body of every error answer, with exactly these members. */
export function errorBody({ code, message, status }: { code: string; message: string; status: number }): string {
  return JSON.stringify({ code, message, status })
}

/** Fastify's error handler, which also receives what Fastify raises before a route is found. */
export function replyWithError(raised: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const [error, { status, retry }] = toServiceError(raised, request.method, reply.server.errors)
  const { code, message } = error
  const { errored } = request.raw
  // A client that leaves in the middle of its body causes an error that nobody receives or has to look into.
  const hasLeft = errored !== null && errored === raised
  if (!hasLeft) {
    countError(reply, code)
    if (status >= 500) logServerError(error, request)
  }
  if (typeof retry === 'number' && !reply.hasHeader('retry-after')) reply.header('retry-after', retry)
  // RFC 5789 section 2.2.
  if (code === 'unsupported_media_type' && request.method === 'PATCH')
    reply.header('accept-patch', patchTypes.join(', '))
  addHelp(reply, code)
  reply.header('x-request-id', request.id) // only on errors, where it is useful
  return reply.code(status).type(jsonType).send(errorBody({ code, message, status }))
}

function addHelp(reply: FastifyReply, code: string): void {
  const { errorsPage } = reply.server
  if (errorsPage === undefined) return
  const others = reply.getHeader('link') // those of a deprecated operation
  reply.header('link', `${others === undefined ? '' : `${others}, `}${helpLink(errorsPage, code)}`)
}

/** What the log says of errors that are bugs of the service. */
const bugs: Readonly<Record<string, string>> = {
  internal_error: 'unexpected error',
  event_not_applicable: 'the event of a command could not be applied, and was not appended',
}

function logServerError(error: ServiceError, { id: requestId, method, url, log }: FastifyRequest): void {
  const of = { requestId, method, path: loggedPath(url) }
  const bug = bugs[error.code]
  if (bug !== undefined) log.error({ ...of, err: error.cause ?? error }, bug)
  // Only at level debug: an unavailable part logs that once itself, and there may be thousands of these a second.
  else log.debug({ ...of, err: error }, 'the request failed')
}

/** Whether there is a route at the path of a request: to the router, an empty id is one too. */
export function isKnownPath({ is404, params }: FastifyRequest): boolean {
  return !is404 && areGiven(params as Record<string, string>)
}

function areGiven(params: Readonly<Record<string, string | undefined>>): boolean {
  for (const name in params) if (params[name] === '') return false
  return true
}

/** 405 with Allow (RFC 9110 section 15.5.6) for a path that supports other methods, else 404. */
export function noSuchRoute({ method, url, server }: FastifyRequest, reply: FastifyReply): ServiceError {
  const [path = ''] = url.split('?')
  const allowed = server.supportedMethods.filter((other) => {
    const route = server.findRoute({ method: other as HTTPMethods, url: path })
    return route !== null && areGiven(route.params)
  })
  if (allowed.length === 0 || allowed.includes(method)) {
    return new ServiceError('route_not_found', `There is nothing at ${path}.`)
  }
  reply.header('allow', allowed.join(', '))
  return new ServiceError('method_not_allowed', `${path} does not support ${method}, only ${allowed.join(', ')}.`)
}
