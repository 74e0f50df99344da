import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import type { IncomingMessage, OutgoingHttpHeaders, RequestListener, Server } from 'node:http'
import { Server as NetServer } from 'node:net'
import { parse } from 'fast-querystring'
import Fastify, { type FastifyBaseLogger, type FastifyInstance, LogController } from 'fastify'
import type { ErrorTable } from '../../door/errors.ts'
import { asksForUpgrade, boundPieces, hasUnreadBody } from '../values/messages.ts'
import { compileRequestCheck } from '../values/request-values.ts'
import { type ConnectionLimits, Connections } from './connections.ts'
import { allowPage } from './cors.ts'
import { replyWithError, securityHeaders } from './error-replies.ts'
import { withoutPort } from './networks.ts'
import { createServer } from './node-http.ts'
import { ParsedRequest } from './parsed-request.ts'
import { rawReplies } from './raw-replies.ts'
import { CountedResponse, type Traffic } from './traffic.ts'

export interface ServerOptions {
  readonly logger: FastifyBaseLogger | false
  readonly connections: ConnectionLimits
  /** Whether an API key that was let in still is. */
  readonly isKeyValid: (keyId: string) => boolean
  /** Whether each response asks its client to close the connection. */
  readonly isClosing: () => boolean
  readonly traffic: Traffic
  /** All errors that may be answered. */
  readonly errors: ErrorTable
  /** Origins of pages that may read the answers. */
  readonly corsOrigins: ReadonlySet<string>
  /** Where clients find the page that explains each error; undefined where it is not served. */
  readonly errorsPage: string | undefined
}

/** A server without routes. Each of its answers has a status of the error table, and each of its resources is bounded. */
export function newServer(options: ServerOptions): FastifyInstance {
  const { logger, connections: limits, isKeyValid, traffic, errors, errorsPage } = options
  const raw = rawReplies(options)
  const connections = new Connections({ limits, isKeyValid, traffic, logger })
  const app = Fastify({
    // With a logger of its own Fastify would listen to each response, for lines that are not wanted. Errors of a
    // request are logged anyway.
    logger: false,
    ...(logger && { childLoggerFactory: () => logger }),
    logController: new LogController({ disableRequestLogging: true }),
    genReqId: requestId,
    // Fastify does not load its own compilers then. Its types know only those of ajv.
    schemaController: {
      compilersFactory: {
        buildValidator: () => compileRequestCheck as never,
        buildSerializer: () => () => JSON.stringify, // response schemas are only for documentation; answers are sent as text
      },
    },
    trustProxy: (address: string) => limits.isTrustedProxy(withoutPort(address)),
    serverFactory: (handle) => listener(handle, options, connections, raw),
    return503OnClosing: false,
    // Node itself refuses longer request heads, so any id that arrives gets a specific error, not that of an unknown
    // path.
    routerOptions: { maxParamLength: 16 * 1024, querystringParser: parseQuery },
    frameworkErrors: (error, request, reply) => {
      replyWithError(error, request, reply.header('cache-control', 'no-store')) // no hooks run for a malformed URL
    },
    clientErrorHandler: raw.toBrokenRequest,
  })
  app.decorate('errors', errors)
  app.decorate('errorsPage', errorsPage)
  app.setErrorHandler(replyWithError)
  return app
}

/** More is refused as if they were too large: each costs far more than its bytes. */
const headersMax = 200

/** One more than a query that is valid can have, so that its check refuses the others without reading them. */
const queryNamesMax = 101

/** A name takes two characters at least, with what divides it from the next one. */
function parseQuery(text: string) {
  return parse(text.length < 2 * queryNamesMax ? text : text.split('&', queryNamesMax).join('&'))
}

/** What listens: each request comes in the turn of its connection, and counts. */
function listener(
  handle: RequestListener,
  options: ServerOptions,
  connections: Connections,
  raw: ReturnType<typeof rawReplies>,
): Server {
  const take = connections.inTurn((request, response) => {
    options.traffic.takeUp(response)
    handle(request, response)
  })
  const server = createServer(
    {
      requestTimeout: 30_000, // until the whole request has arrived
      headersTimeout: 10_000, // until the head of a request has arrived
      connectionsCheckingInterval: 5_000, // how often both are looked at
      keepAliveTimeout: 65_000, // more than the 60 s of load balancers, so that they close first
      requireHostHeader: false, // Node itself answers a request without Host, but without a body
      IncomingMessage: ParsedRequest,
      shouldUpgradeCallback: ({ socket }) => socket.destroyed,
      ServerResponse: responseClass(options),
    },
    (request, response) => {
      if (hasUnreadBody(request)) boundPieces(request, raw.toManyPieces)
      take(request, response)
    },
  )
  server.maxHeadersCount = headersMax
  connections.watch(server)
  // Expectations are handled once the client is authenticated. RFC 9110 section 10.1.1 allows ignoring unknown ones.
  server.on('checkContinue', (request, response) => server.emit('request', request, response))
  server.on('checkExpectation', (request, response) => server.emit('request', request, response))
  server.on('connect', (_request, socket) => raw.toTunnel(socket))
  return server
}

const givenId = /^[\x21-\x7e]{1,128}$/
const processId = randomBytes(6).toString('base64url')
let requests = 0

/** The caller's X-Request-Id if it is fit for a log line, else one that no other process uses. */
function requestId({ headers }: IncomingMessage): string {
  const given = headers['x-request-id']
  return typeof given === 'string' && givenId.test(given) ? given : `${processId}-${(++requests).toString(36)}`
}

/**
 * The response class of the server. Each response has the security headers, can be read by pages of `corsOrigins`, and
 * asks its client to close the connection if the server `isClosing` when it is sent, or if what follows is not going to
 * be read. A Fastify hook would cost several times as much, and would miss answers that are sent before hooks run.
 */
function responseClass({ isClosing, corsOrigins }: ServerOptions) {
  return class<Request extends IncomingMessage> extends CountedResponse<Request> {
    // Fastify passes all headers here, as one object. If one were set separately, Node would set each of them again.
    override writeHead(status: number, ...rest: never[]): this {
      const headers: OutgoingHttpHeaders = rest[0] ?? {}
      for (const name in securityHeaders) headers[name] ??= securityHeaders[name]
      allowPage(corsOrigins, this.req, headers)
      // RFC 9110 section 8.6. Fastify adds it to the answer to a HEAD.
      if (status === 204 || status === 304) delete headers['content-length']
      if (isClosing() || hasUnreadBody(this.req) || asksForUpgrade(this.req)) headers.connection = 'close'
      return super.writeHead(status, headers)
    }
  }
}

/**
 * Stops listening and resolves once every connection is closed. Current requests are still answered, and each answer
 * asks its client to close the connection (`isClosing`). Connections that are idle, or on which nothing was ever sent,
 * are closed after `idleMs`.
 */
export async function drain(server: Server, idleMs: number): Promise<void> {
  const closed = once(server, 'close')
  // The HTTP server's own close ends idle connections at once, including those on which a request has just been sent.
  NetServer.prototype.close.call(server)
  const idle = setInterval(() => {
    server.closeIdleConnections()
    Connections.of(server)?.closeSilent()
  }, idleMs)
  await closed
  clearInterval(idle)
}
