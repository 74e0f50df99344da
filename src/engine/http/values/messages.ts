import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { ServiceError } from '../../lib/errors/errors.ts'

/** `uri-host [":" port]` (RFC 9110 section 7.2), which may be empty. */
const hostForm = /^(?:\[[\da-f:.]+\]|(?:[\w.~!$&'()*+,;=-]|%[\da-f]{2})*)(?::\d*)?$/i

/** The problem with a request as an HTTP message that Node's parser accepts; undefined if there is none. */
export function messageProblem({
  method,
  url = '',
  rawHeaders,
  headers,
  httpVersion,
}: IncomingMessage): ServiceError | undefined {
  const { host, 'transfer-encoding': transferCoding } = headers
  if (httpVersion !== '1.1' && httpVersion !== '1.0') {
    return new ServiceError('invalid_request', `HTTP/${httpVersion} is not supported, only HTTP/1.1 and HTTP/1.0.`)
  }
  if (host === undefined && httpVersion === '1.1') {
    return new ServiceError('invalid_request', 'The Host header is missing.') // RFC 9112 section 3.2
  }
  if (host !== undefined && (!hostForm.test(host) || isRepeated(rawHeaders, 'host'))) {
    return new ServiceError('invalid_request', 'The Host header must name one host, with or without a port.')
  }
  if (transferCoding !== undefined && transferCoding.toLowerCase() !== 'chunked') {
    return new ServiceError('unsupported_transfer_coding', 'The only supported transfer coding is chunked.')
  }
  if (isMalformed(url) || (url === '*' && method !== 'OPTIONS')) {
    return new ServiceError('invalid_request', 'The URL is malformed.') // RFC 9112 section 3.2: the star stands for the server
  }
  return undefined
}

/**
 * Whether it has a fragment (RFC 9112 section 3.2), anything but ASCII, or, in its query, anything that is not UTF-8
 * percent-encoded: the router looks at the path alone, and the parser of queries would leave such a text as it is.
 */
function isMalformed(url: string): boolean {
  if (/[#\x80-\uffff]/.test(url)) return true
  const query = url.indexOf('?')
  if (query < 0 || !url.includes('%', query)) return false
  try {
    decodeURIComponent(url.slice(query))
    return false
  } catch {
    return true
  }
}

const loggedMax = 200

/** What logs and traces keep of a text that a client chose. */
export function cut(text: string): string {
  return text.length > loggedMax ? `${text.slice(0, loggedMax)}…` : text
}

/** The path of a URL for the log: a query may be long, and may hold what is secret. */
export function loggedPath(url: string): string {
  return cut(url.split('?', 1)[0] ?? '')
}

/** Whether more of the body is still to come. */
export function hasUnreadBody(request: IncomingMessage): boolean {
  return !request.complete && hasBody(request)
}

/** Whether there is one, though all of it may have come: a request behind another on its connection has to wait. */
function hasBody({ headers }: IncomingMessage): boolean {
  return Number(headers['content-length'] ?? 0) > 0 || headers['transfer-encoding'] !== undefined
}

/** What Node's buffer of a body takes, and what one more read brings. */
const unaskedMax = 128 * 1024

/** As many bytes of a body as Node reads before anybody asks for it. */
export function unaskedBytes({ headers }: IncomingMessage): number {
  if (headers['transfer-encoding'] !== undefined) return unaskedMax
  return Math.min(Number(headers['content-length'] ?? 0), unaskedMax)
}

/** Whether a client would go on in another protocol. Node's parser skips what has arrived behind such a request. */
export function asksForUpgrade({ headers }: IncomingMessage): boolean {
  return headers.upgrade !== undefined
}

/** A body comes in chunks, or in packets, which cost far more than the bytes in them. */
const bodyPiecesMax = 1024

/** Calls `refuse` for a body in too many pieces, and then reads no more of it. Call it before any of the body comes. */
export function boundPieces(request: IncomingMessage, refuse: (socket: Socket) => void): void {
  if (Number(request.headers['content-length'] ?? Number.POSITIVE_INFINITY) <= bodyPiecesMax) return // no piece is empty
  const { push } = request
  let pieces = 0
  request.push = (piece: unknown) => {
    if (pieces > bodyPiecesMax) return false // its end neither: a part must not be taken for the body
    if (piece === null || ++pieces <= bodyPiecesMax) return push.call(request, piece)
    request._read = () => {} // it would have the connection read on
    refuse(request.socket)
    return false
  }
}

/**
 * Whether a header occurs more than once; names are in lower case. Node keeps one of them, and a proxy in front may
 * have used another.
 */
export function isRepeated(rawHeaders: readonly string[], name: string): boolean {
  let count = 0
  for (let index = 0; index < rawHeaders.length; index += 2) {
    if (rawHeaders[index]?.length === name.length && rawHeaders[index]?.toLowerCase() === name) count++
  }
  return count > 1
}

/** The elements of a list (RFC 9110 section 5.6.1), in lower case; empty ones do not count. */
export function elementsOf(header: string): readonly string[] {
  const elements = header.split(',').map((element) => element.trim().toLowerCase())
  return elements.filter((element) => element !== '')
}

/**
 * Refuses a body that nothing here can read, and sends `100 Continue` to a client that waits for it (RFC 9110 section
 * 10.1.1), which one that speaks HTTP/1.0 never does. Run it after every other check of the head.
 */
export function admitBody({ raw }: FastifyRequest, reply: FastifyReply, done: (error?: Error) => void): void {
  const { httpVersion, headers } = raw
  const problem = hasBody(raw) ? bodyProblem(raw, reply) : undefined
  const isAwaited =
    headers.expect !== undefined && httpVersion === '1.1' && elementsOf(headers.expect).includes('100-continue')
  if (problem === undefined && isAwaited) reply.raw.writeContinue()
  done(problem)
}

function bodyProblem({ headers, rawHeaders }: IncomingMessage, reply: FastifyReply): ServiceError | undefined {
  if (isRepeated(rawHeaders, 'content-type')) {
    return new ServiceError('unsupported_media_type', 'There is more than one Content-Type header.')
  }
  const { 'content-encoding': codings } = headers
  if (codings === undefined || elementsOf(codings).every((coding) => coding === 'identity')) return undefined
  reply.header('accept-encoding', 'identity') // RFC 9110 section 12.5.3
  return new ServiceError('unsupported_media_type', 'The body must be sent as it is: no Content-Encoding is read.')
}
