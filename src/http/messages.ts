import type { IncomingMessage } from 'node:http'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { ServiceError } from '../lib/errors.ts'

/** The characters of `uri-host [":" port]` (RFC 9110 section 7.2). */
const hostForm = /^[\w.~!$&'()*+,;=:%[\]-]*$/

/** What is wrong with a request as an HTTP message that Node's parser lets pass; undefined where nothing is. */
export function messageProblem({ rawHeaders, headers, httpVersion }: IncomingMessage): ServiceError | undefined {
  const { host, 'transfer-encoding': transferCoding } = headers
  if (httpVersion !== '1.1' && httpVersion !== '1.0') {
    return new ServiceError('invalid_request', `HTTP/${httpVersion} is not spoken here, only HTTP/1.1.`)
  }
  if (host === undefined && httpVersion === '1.1') {
    return new ServiceError('invalid_request', 'The Host header is missing.') // RFC 9112 section 3.2
  }
  if (host !== undefined && (!hostForm.test(host) || isRepeated(rawHeaders, 'host'))) {
    return new ServiceError('invalid_request', 'The Host header must be one host, with or without a port.')
  }
  if (transferCoding !== undefined && transferCoding.toLowerCase() !== 'chunked') {
    return new ServiceError('unsupported_transfer_coding', 'The only transfer coding known here is chunked.')
  }
  return undefined
}

/** Whether more of a body is to come. */
export function hasUnreadBody({ complete, headers }: IncomingMessage): boolean {
  return !complete && ((headers['content-length'] ?? '0') !== '0' || headers['transfer-encoding'] !== undefined)
}

/** Whether there are several headers of a name, in lower case. Node keeps one of them; a proxy in front may have looked at another. */
export function isRepeated(rawHeaders: readonly string[], name: string): boolean {
  let count = 0
  for (let index = 0; index < rawHeaders.length; index += 2) {
    if (rawHeaders[index]?.length === name.length && rawHeaders[index]?.toLowerCase() === name) count++
  }
  return count > 1
}

/**
 * Refuses a body that nothing here could read, and asks a client that waits to be asked for one that can be (RFC 9110
 * section 10.1.1). To be run behind all else that refuses a request by its head.
 */
export function admitBody({ raw }: FastifyRequest, reply: FastifyReply, done: (error?: Error) => void): void {
  const { expect, 'content-encoding': contentCoding = 'identity' } = raw.headers
  if (contentCoding.toLowerCase() !== 'identity' && hasUnreadBody(raw)) {
    reply.header('accept-encoding', 'identity') // RFC 9110 section 12.5.3
    done(new ServiceError('unsupported_media_type', 'The body must not be compressed.'))
    return
  }
  if (expect?.toLowerCase() === '100-continue') reply.raw.writeContinue()
  done()
}
