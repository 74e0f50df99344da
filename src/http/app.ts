import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { type IncomingMessage, type Server, ServerResponse } from 'node:http'
import { Server as NetServer } from 'node:net'
import Fastify, { type FastifyBaseLogger, type FastifyInstance, LogController } from 'fastify'
import { ServiceError } from '../lib/errors.ts'
import { limitInFlight, requireApiKey } from './auth.ts'
import { replyNotFound, replyToBrokenRequest, replyWithError } from './error-replies.ts'
import { addHealthRoutes, type ProbedServices } from './health.ts'
import { addOpenApi } from './openapi.ts'
import { addOrderRoutes } from './orders.ts'
import { addPetRoutes } from './pets.ts'
import { compileRequestCheck, readOnlyJson } from './request-values.ts'
import type { RouteServices } from './resource.ts'

export interface ApiServices extends RouteServices {
  /** The id of the API key, or undefined when the key is not valid. */
  readonly ownerOf: (key: string) => string | undefined
  readonly maxInFlightPerKey: number
}

export interface AppServices extends ProbedServices {
  /** Undefined in a process that serves no API: then there are only the routes without a key, less the documents. */
  readonly api?: ApiServices | undefined
}

/** The HTTP server, ready to listen or to be injected requests. Closing it finishes the requests it has. */
export async function buildApp(
  services: AppServices,
  { logger }: { readonly logger: FastifyBaseLogger | false },
): Promise<FastifyInstance> {
  const app = newServer(services, logger)
  app.setValidatorCompiler(compileRequestCheck)
  app.setSerializerCompiler(() => JSON.stringify) // response schemas are for the document; answers are sent as text
  app.setErrorHandler(replyWithError)
  app.setNotFoundHandler(replyNotFound)
  app.removeAllContentTypeParsers() // only what /v1 adds is read: elsewhere a body changes no answer
  app.addHook('onRequest', ({ raw }, reply, done) => {
    reply.header('cache-control', 'no-store')
    const lacksHost = raw.headers.host === undefined && raw.httpVersion === '1.1' // RFC 9112 section 3.2
    done(lacksHost ? new ServiceError('invalid_request', 'The Host header is missing.') : undefined)
  })
  if (logger) addRequestLog(app, logger)
  addHealthRoutes(app, services)
  if (services.api !== undefined) await addApi(app, services.api)
  await app.ready()
  return app
}

async function addApi(app: FastifyInstance, api: ApiServices): Promise<void> {
  await addOpenApi(app)
  await app.register(
    async (v1) => {
      readOnlyJson(v1)
      await requireApiKey(v1, api.ownerOf)
      limitInFlight(v1, api.maxInFlightPerKey)
      addPetRoutes(v1, api)
      addOrderRoutes(v1, api)
    },
    { prefix: '/v1' },
  )
}

function newServer({ draining }: AppServices, logger: FastifyBaseLogger | false): FastifyInstance {
  const app: FastifyInstance = Fastify({
    // A logger of its own makes Fastify listen to each response, for lines that are not wanted; what goes wrong in a
    // request is logged all the same.
    logger: false,
    ...(logger && { childLoggerFactory: () => logger }),
    logController: new LogController({ disableRequestLogging: true }),
    genReqId: requestId,
    requestTimeout: 30_000, // for all of a request to arrive
    keepAliveTimeout: 65_000, // more than the 60 s of load balancers, so that they are the ones to close
    http: {
      headersTimeout: 10_000, // for the head of a request to arrive
      connectionsCheckingInterval: 5_000, // how often both are looked at
      requireHostHeader: false, // Node itself answers a request without Host, but without a body
      ServerResponse: closingResponse(() => draining() && !app.server.listening),
    },
    return503OnClosing: false,
    // Node refuses longer request heads by itself, so that a long id is told from an unknown path.
    routerOptions: { maxParamLength: 16 * 1024 },
    frameworkErrors: (error, request, reply) => {
      replyWithError(error, request, reply.header('cache-control', 'no-store')) // no hooks run for a malformed URL
    },
    clientErrorHandler: replyToBrokenRequest,
  })
  // Node answers an unknown Expect with 417; RFC 9110 section 10.1.1 lets it be ignored.
  app.server.on('checkExpectation', (request, response) => app.server.emit('request', request, response))
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

/** One line when a response is sent, at level debug: Fastify's own would be made for every request at any level. */
function addRequestLog(app: FastifyInstance, logger: FastifyBaseLogger): void {
  if (logger.level !== 'debug' && logger.level !== 'trace') return
  app.addHook('onResponse', ({ id: requestId, method, url }, { statusCode, elapsedTime }, done) => {
    logger.debug({ requestId, method, url, statusCode, elapsedMs: elapsedTime }, 'request')
    done()
  })
}

/**
 * The class of a server's responses: each asks its client to close the connection if it `isClosing` when the response is
 * sent. A hook of Fastify would do, at several times the cost, and would miss what is answered before hooks run.
 */
function closingResponse(isClosing: () => boolean) {
  return class<Request extends IncomingMessage> extends ServerResponse<Request> {
    override writeHead(status: number, ...rest: never[]): this {
      if (isClosing()) this.setHeader('connection', 'close')
      return super.writeHead(status, ...rest)
    }
  }
}

/**
 * Stops listening and resolves once every connection is closed. Requests that are on their way are still answered, and
 * each answer asks its client to close the connection (`draining`). Connections on which nothing comes are closed after
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
