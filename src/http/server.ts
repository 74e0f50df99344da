import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type OutgoingHttpHeaders, type Server, ServerResponse } from 'node:http'
import { Server as NetServer } from 'node:net'
import Fastify, { type FastifyBaseLogger, type FastifyInstance, LogController } from 'fastify'
import { type ConnectionLimits, inTurn, limitConnections } from './connections.ts'
import { replyToBrokenRequest, replyToTunnel, replyWithError } from './error-replies.ts'
import { hasUnreadBody } from './messages.ts'
import { securityHeaders } from './security-headers.ts'
import type { Traffic } from './traffic.ts'

export interface ServerOptions {
  readonly logger: FastifyBaseLogger | false
  readonly connections: ConnectionLimits
  /** The longest that an answer is waited for, in milliseconds. */
  readonly answerWithinMs: number
  /** Whether each response is to ask its client to close the connection. */
  readonly isClosing: () => boolean
  readonly traffic: Traffic
}

/** What a client may take to receive an answer that is ready, in milliseconds without a single byte that moves. */
const receiveWithinMs = 20_000

/** A server without routes whose every answer has a status of the catalogue, and whose every resource is bounded. */
export function newServer({ logger, connections, answerWithinMs, isClosing, traffic }: ServerOptions): FastifyInstance {
  const app = Fastify({
    // A logger of its own makes Fastify listen to each response, for lines that are not wanted; what goes wrong in a
    // request is logged all the same.
    logger: false,
    ...(logger && { childLoggerFactory: () => logger }),
    logController: new LogController({ disableRequestLogging: true }),
    genReqId: requestId,
    trustProxy: (address: string) => connections.isTrustedProxy(address),
    serverFactory: (handle) => {
      const server = createServer(
        {
          requestTimeout: 30_000, // for all of a request to arrive
          headersTimeout: 10_000, // for the head of a request to arrive
          connectionsCheckingInterval: 5_000, // how often both are looked at
          keepAliveTimeout: 65_000, // more than the 60 s of load balancers, so that they are the ones to close
          requireHostHeader: false, // Node itself answers a request without Host, but without a body
          ServerResponse: responseClass(isClosing),
        },
        inTurn((request, response) => {
          traffic.takeUp(response)
          handle(request, response)
        }),
      )
      server.setTimeout(answerWithinMs + receiveWithinMs)
      limitConnections(server, connections, logger)
      // Expectations are dealt with once it is known who asks. RFC 9110 section 10.1.1 lets an unknown one be ignored.
      server.on('checkContinue', (request, response) => server.emit('request', request, response))
      server.on('checkExpectation', (request, response) => server.emit('request', request, response))
      server.on('connect', (_request, socket) => traffic.refuse(replyToTunnel(socket)))
      return server
    },
    return503OnClosing: false,
    // Node refuses longer request heads by itself, so that a long id is told from an unknown path.
    routerOptions: { maxParamLength: 16 * 1024 },
    frameworkErrors: (error, request, reply) => {
      replyWithError(error, request, reply.header('cache-control', 'no-store')) // no hooks run for a malformed URL
    },
    clientErrorHandler: (error, socket) => {
      const code = replyToBrokenRequest(error, socket)
      if (code !== undefined) traffic.refuse(code)
    },
  })
  app.setErrorHandler(replyWithError)
  return app
}

const givenId = /^[\x21-\x7e]{1,128}$/
const processId = randomBytes(6).toString('base64url')
let requests = 0

/** The caller's X-Request-Id where it can stand in a log line, else one that no other process gives out. */
function requestId({ headers }: IncomingMessage): string {
  const given = headers['x-request-id']
  return typeof given === 'string' && givenId.test(given) ? given : `${processId}-${(++requests).toString(36)}`
}

/**
 * The class of a server's responses: each has the security headers, and asks its client to close the connection if the
 * server `isClosing` when it is sent, or if there is more of a body to come that nobody wants. A hook of Fastify would do,
 * at several times the cost, and would miss what is answered before hooks run.
 */
function responseClass(isClosing: () => boolean) {
  return class<Request extends IncomingMessage> extends ServerResponse<Request> {
    // Fastify gives all headers here, as one object. If one were set in another way, Node would set each of them anew.
    override writeHead(status: number, ...rest: never[]): this {
      const headers: OutgoingHttpHeaders = rest[0] ?? {}
      for (const name in securityHeaders) headers[name] ??= securityHeaders[name]
      if (isClosing() || hasUnreadBody(this.req)) headers.connection = 'close'
      return super.writeHead(status, headers)
    }
  }
}

/**
 * Stops listening and resolves once every connection is closed. Requests that are on their way are still answered, and
 * each answer asks its client to close the connection (`isClosing`). Connections on which nothing comes are closed after
 * `idleMs`.
 */
export async function drain(server: Server, idleMs: number): Promise<void> {
  const closed = once(server, 'close')
  // The HTTP server's own close ends idle connections at once, and with them the requests just sent on them.
  NetServer.prototype.close.call(server)
  const idle = setInterval(() => server.closeIdleConnections(), idleMs)
  await closed
  clearInterval(idle)
}
