import type { FastifyReply, FastifyRequest, HTTPMethods } from 'fastify'
import { type ErrorCode, ServiceError } from '../lib/errors.ts'
import { loggedPath } from './messages.ts'
import { countRefusal } from './traffic.ts'

/**
 * For each error code its HTTP status and, if a retry may succeed, after how many seconds (RFC 9110 section 10.2.3).
 * append_outcome_unknown has none: a client that retries automatically may store the same pet twice.
 */
export const replies: Record<ErrorCode, readonly [status: number, retryAfterSeconds?: number]> = {
  invalid_request: [400],
  invalid_json: [400],
  invalid_cursor: [400],
  invalid_idempotency_key: [400],
  invalid_consistency_token: [400],
  unauthorized: [401],
  insufficient_scope: [403],
  pet_not_found: [404],
  order_not_found: [404],
  route_not_found: [404],
  method_not_allowed: [405],
  pet_not_available: [409],
  order_transition_invalid: [409],
  precondition_failed: [412],
  request_timeout: [408],
  payload_too_large: [413],
  unsupported_media_type: [415],
  idempotency_key_reused: [422],
  unknown_pet: [422],
  too_many_requests: [429, 1],
  quota_exceeded: [429],
  headers_too_large: [431],
  internal_error: [500],
  event_parked: [500],
  unsupported_transfer_coding: [501],
  overloaded: [503, 1],
  conflict: [503, 1],
  stream_parked: [503],
  event_log_unavailable: [503, 2],
  read_model_unavailable: [503, 1],
  read_model_rebuilding: [503, 1],
  read_model_behind: [503, 1],
  append_outcome_unknown: [504],
}

export function statusOf(code: ErrorCode): number {
  return replies[code][0]
}

declare module 'fastify' {
  interface FastifyInstance {
    /** Where clients find the page that explains each error; undefined where it is not served. */
    errorsPage: string | undefined
  }
}

/** The link to what an error code means (RFC 8288). */
export function helpLink(errorsPage: string, code: ErrorCode): string {
  return `<${errorsPage}#${code}>; rel="help"`
}

/** Headers of every JSON answer. */
export const jsonType = 'application/json; charset=utf-8'

/** Headers that every answer sends to browsers: those that matter for an API, whose answers are not pages (decision 0043). */
export const securityHeaders: Readonly<Record<string, string>> = {
  'content-security-policy': "default-src 'none';frame-ancestors 'none'",
  'x-content-type-options': 'nosniff',
}

type CodeAndMessage = readonly [ErrorCode, message: string]

/** The answers for errors that Fastify and Node's HTTP parser raise about a request, by their codes. */
const replyByCode = new Map<string, CodeAndMessage>([
  ['FST_ERR_BAD_URL', ['invalid_request', 'The URL is malformed.']],
  ['FST_ERR_MAX_PARAM_LENGTH', ['invalid_request', 'The path is too long.']],
  ['FST_ERR_CTP_BODY_TOO_LARGE', ['payload_too_large', 'The body is larger than 16 KiB.']],
  ['FST_ERR_CTP_INVALID_MEDIA_TYPE', ['unsupported_media_type', 'The body must be application/json, in UTF-8.']],
  ['FST_ERR_CTP_INVALID_CONTENT_LENGTH', ['invalid_request', 'The length of the body differs from Content-Length.']],
  ['ERR_HTTP_REQUEST_TIMEOUT', ['request_timeout', 'The request did not arrive in time.']],
  [
    'HPE_HEADER_OVERFLOW',
    ['headers_too_large', 'The request line and headers, or the trailers, are larger than 16 KiB.'],
  ],
  ['HPE_CHUNK_EXTENSIONS_OVERFLOW', ['payload_too_large', 'The chunk extensions are too large.']],
])

/** The error as one of the catalogue; `otherwise` if its own code is not listed. */
export function toServiceError(error: unknown, otherwise: CodeAndMessage): ServiceError {
  if (error instanceof ServiceError) return error
  const ownCode = error instanceof Error && 'code' in error ? String(error.code) : ''
  const [code, message] = replyByCode.get(ownCode) ?? otherwise
  return new ServiceError(code, message, { cause: error })
}

/** The body of every error answer, with exactly these members. */
export function errorBody({ code, message }: ServiceError): string {
  return JSON.stringify({ code, message, status: statusOf(code) })
}

/** Fastify's error handler, which also receives what Fastify raises before a route is found. */
export function replyWithError(raised: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  // A bug: the client learns no details, and `cause` keeps them for the log.
  const error = toServiceError(raised, ['internal_error', 'An unexpected error occurred.'])
  const { code } = error
  const { errored } = request.raw
  // A client that leaves in the middle of its body causes an error that nobody receives or has to look into.
  const hasLeft = errored !== null && errored === raised
  if (!hasLeft) {
    countRefusal(reply, code)
    logServerError(error, request)
  }
  const [status, retryAfter] = replies[code]
  if (retryAfter !== undefined && !reply.hasHeader('retry-after')) reply.header('retry-after', retryAfter)
  // RFC 5789 section 2.2.
  if (code === 'unsupported_media_type' && request.method === 'PATCH') reply.header('accept-patch', 'application/json')
  addHelp(reply, code)
  reply.header('x-request-id', request.id) // only on errors, where it is useful
  return reply.code(status).type(jsonType).send(errorBody(error))
}

function addHelp(reply: FastifyReply, code: ErrorCode): void {
  const { errorsPage } = reply.server
  if (errorsPage === undefined) return
  const others = reply.getHeader('link') // those of a deprecated operation
  reply.header('link', `${others === undefined ? '' : `${others}, `}${helpLink(errorsPage, code)}`)
}

function logServerError(error: ServiceError, { id: requestId, method, url, log }: FastifyRequest): void {
  if (statusOf(error.code) < 500) return
  const of = { requestId, method, path: loggedPath(url) }
  if (error.code === 'internal_error') log.error({ ...of, err: error.cause ?? error }, 'unexpected error')
  // Only at level debug: an unavailable part logs that once itself, and there may be thousands of these a second.
  else log.debug({ ...of, err: error }, 'the request failed')
}

/** 405 with Allow (RFC 9110 section 15.5.6) for a path that supports other methods, else 404. */
export function notFound({ method, url, server }: FastifyRequest, reply: FastifyReply): ServiceError {
  const [path = ''] = url.split('?')
  const allowed = server.supportedMethods.filter(
    (other) => server.findRoute({ method: other as HTTPMethods, url: path }) !== null,
  )
  if (allowed.length === 0 || allowed.includes(method)) {
    return new ServiceError('route_not_found', `There is nothing at ${path}.`)
  }
  reply.header('allow', allowed.join(', '))
  return new ServiceError('method_not_allowed', `${path} does not support ${method}, only ${allowed.join(', ')}.`)
}
