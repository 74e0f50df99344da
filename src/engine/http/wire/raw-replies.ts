import type { Duplex } from 'node:stream'
import { timeOfDay } from '../../lib/clock.ts'
import { engineErrors } from '../../lib/errors/engine-errors.ts'
import { connectionOf } from './connection.ts'
import { anyPage } from './cors.ts'
import { errorBody, helpLink, jsonType, problemWith, type Refusal, securityHeaders } from './error-replies.ts'
import { STATUS_CODES } from './node-http.ts'
import type { Traffic } from './traffic.ts'

interface RawReplyOptions {
  readonly errorsPage: string | undefined
  readonly corsOrigins: ReadonlySet<string>
  readonly traffic: Traffic
}

/** The answers that have no response object, and so are sent as bytes, with all their headers. Those that are sent count. */
export function rawReplies({ errorsPage, corsOrigins, traffic }: RawReplyOptions) {
  function end(socket: Duplex, [code, message]: Refusal, more: Readonly<Record<string, string>> = {}): void {
    const { status } = engineErrors[code]
    const body = errorBody({ code, message, status })
    const headers = {
      ...securityHeaders,
      ...(corsOrigins.size > 0 ? anyPage : {}),
      'Cache-Control': 'no-store',
      'Content-Type': jsonType,
      Connection: 'close',
      ...(errorsPage !== undefined && { Link: helpLink(errorsPage, code) }),
      ...more,
      Date: timeOfDay().toUTCString(),
      'Content-Length': Buffer.byteLength(body),
    }
    const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
    const answer = `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join('')}\r\n${body}`
    if (connectionOf(socket)?.end(answer)) traffic.refuse(code)
  }
  return {
    /**
     * Node's clientError: bytes that are not a request, or not a complete one. Comes again for whatever arrives behind such
     * bytes.
     */
    toBrokenRequest: (raised: Error, socket: Duplex) =>
      end(socket, problemWith(raised) ?? ['invalid_request', 'The request is not valid HTTP/1.1.']),
    /** Node's connect event: a proxy method, whose connection Node would close without an answer. */
    toTunnel(socket: Duplex): void {
      socket.on('error', () => {}) // Node listens no more
      const message = 'This server is not a proxy: it does not support CONNECT.'
      end(socket, ['method_not_allowed', message], { Allow: '' })
    },
    /** The answer to a body in more pieces than are read. */
    toManyPieces: (socket: Duplex) => end(socket, ['payload_too_large', 'The body comes in too many pieces.']),
  }
}
