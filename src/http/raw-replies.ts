import { STATUS_CODES } from 'node:http'
import type { Duplex } from 'node:stream'
import { type ErrorCode, ServiceError } from '../lib/errors.ts'
import { connectionOf } from './connection.ts'
import { errorBody, jsonType, securityHeaders, statusOf, toServiceError } from './error-replies.ts'

/**
 * Node's clientError: bytes that are not a request, or not a complete one, so there is no reply object to send. Returns the
 * code that was sent, if any. Comes again for whatever arrives behind such bytes.
 */
export function replyToBrokenRequest(raised: Error, socket: Duplex): ErrorCode | undefined {
  return endWithError(socket, toServiceError(raised, ['invalid_request', 'The request is not valid HTTP/1.1.']))
}

/** Node's connect event: a proxy method, whose connection Node would close without an answer. */
export function replyToTunnel(socket: Duplex): ErrorCode | undefined {
  socket.on('error', () => {}) // Node listens no more
  const problem = new ServiceError('method_not_allowed', 'This server is not a proxy: it does not support CONNECT.')
  return endWithError(socket, problem, 'Allow: \r\n')
}

/** The answer to a body in more pieces than are read. */
export function replyToManyPieces(socket: Duplex): ErrorCode | undefined {
  return endWithError(socket, new ServiceError('payload_too_large', 'The body comes in too many pieces.'))
}

/** As bytes: without a response object nothing adds the headers. */
const securityLines = Object.entries(securityHeaders)
  .map(([name, value]) => `${name}: ${value}\r\n`)
  .join('')

function endWithError(socket: Duplex, error: ServiceError, headers = ''): ErrorCode | undefined {
  const status = statusOf(error.code)
  const body = errorBody(error)
  const answer =
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${headers}${securityLines}Content-Type: ${jsonType}\r\nConnection: close\r\n` +
    `Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`
  return connectionOf(socket)?.end(answer) ? error.code : undefined
}
