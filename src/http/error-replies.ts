import { STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import type { FastifyInstance, FastifyReply, FastifyRequest, HTTPMethods } from 'fastify'
import { ServiceError } from '../lib/errors.ts'
import { parserErrorToServiceError, toServiceError } from './error-mapping.ts'
import { errorBody, retryAfterSeconds, statusOf } from './error-status.ts'
import { jsonType } from './media-types.ts'

/** Fastify's error handler. Also takes what Fastify raises before a route is found. */
export function replyWithError(error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const answer = toServiceError(error)
  logServerError(answer, request)
  const retryAfter = retryAfterSeconds[answer.code]
  if (retryAfter !== undefined) reply.header('retry-after', retryAfter)
  // RFC 5789 section 2.2.
  if (answer.code === 'unsupported_media_type' && request.method === 'PATCH')
    reply.header('accept-patch', 'application/json')
  reply.header('x-request-id', request.id) // on errors only: there someone asks for it
  reply.header('x-content-type-options', 'nosniff') // messages can quote what was sent
  return reply.code(statusOf[answer.code]).type(jsonType).send(errorBody(answer.code, answer.message))
}

function logServerError(error: ServiceError, request: FastifyRequest): void {
  if (statusOf[error.code] < 500 || hasLeft(request)) return
  const { id: requestId, method, url } = request
  const of = { requestId, method, url }
  if (error.code === 'internal_error') request.log.error({ ...of, err: error.cause ?? error }, 'unexpected error')
  // Not louder: what is away says so once by itself, and there may be thousands of these a second.
  else request.log.debug({ ...of, err: error }, 'the request failed')
}

/** A client that goes in the middle of its body makes an error that nobody gets, and nobody needs to look into. */
function hasLeft({ raw }: FastifyRequest): boolean {
  return raw.destroyed && !raw.complete
}

/** 405 with Allow (RFC 9110 section 15.5.6) for a path that other methods know, else 404. */
export function replyNotFound(request: FastifyRequest, reply: FastifyReply): never {
  const { method } = request
  const [path = ''] = request.url.split('?')
  const allowed = methodsOf(request.server, path)
  if (allowed.length === 0 || allowed.includes(method)) {
    throw new ServiceError('route_not_found', `There is nothing at ${path}.`)
  }
  reply.header('allow', allowed.join(', '))
  throw new ServiceError('method_not_allowed', `${path} does not know ${method}, only ${allowed.join(', ')}.`)
}

function methodsOf(app: FastifyInstance, path: string): string[] {
  return app.supportedMethods.filter((method) => app.findRoute({ method: method as HTTPMethods, url: path }) !== null)
}

/** What Node sets on a socket while a response is to be written to it. */
interface HttpSocket extends Socket {
  readonly _httpMessage?: {
    readonly req: { readonly complete: boolean }
    once(event: 'finish', then: () => void): void
  }
}

/** Node's clientError: bytes that are no request, or no complete one, so that there is no reply to send it with. */
export function replyToBrokenRequest(error: Error, socket: HttpSocket): void {
  if (!socket.writable) {
    socket.destroy(error)
    return
  }
  const pending = socket._httpMessage
  if (pending?.req.complete) {
    // An answer written now would be taken for that of the complete request before the broken one.
    pending.once('finish', () => socket.destroySoon())
    return
  }
  socket.write(rawErrorResponse(parserErrorToServiceError(error)))
  socket.destroySoon()
}

function rawErrorResponse({ code, message }: ServiceError): string {
  const status = statusOf[code]
  const body = errorBody(code, message)
  return (
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\nContent-Type: ${jsonType}\r\nConnection: close\r\n` +
    `Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`
  )
}
