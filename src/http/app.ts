import Fastify, {
  type FastifyBaseLogger,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  LogController,
} from 'fastify'
import { ServiceError } from '../lib/errors.ts'
import { requireApiKey } from './auth.ts'
import { closingResponse } from './drain.ts'
import { replyNotFound, replyToBrokenRequest, replyWithError } from './error-replies.ts'
import { addHealthRoutes, type Health } from './health.ts'
import { limitInFlight } from './in-flight.ts'
import { readOnlyJson } from './json-body.ts'
import { addMetricsRoute, type Metrics } from './metrics.ts'
import { addOpenApi } from './openapi.ts'
import { addOrderRoutes } from './orders.ts'
import { addPetRoutes } from './pets.ts'
import { addRequestLog, requestId } from './request-log.ts'
import { compileRequestCheck } from './request-values.ts'
import type { RouteServices } from './resource.ts'

export interface ApiServices extends RouteServices {
  /** The id of the API key, or undefined when the key is not valid. */
  readonly keyId: (key: string) => string | undefined
  readonly maxInFlightPerKey: number
}

export interface AppServices {
  /** Undefined in a process that serves no API: then there are only the routes without a key, less the documents. */
  readonly api?: ApiServices | undefined
  readonly health: Health
  readonly metrics: Metrics
  /**
   * Whether this process is about to end: `/readyz` is 503 then, and once it listens no more every response asks its
   * client to close the connection.
   */
  readonly draining: () => boolean
}

/** Milliseconds. */
const limits = {
  /** For the head of a request to arrive. */
  headersTimeout: 10_000,
  /** For all of a request to arrive. */
  requestTimeout: 30_000,
  /** How often the two are looked at. */
  connectionsCheckingInterval: 5_000,
  /** More than the 60 s that load balancers keep an idle connection, so that they are the ones to close it. */
  keepAliveTimeout: 65_000,
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
  app.addHook('onRequest', (request, reply, done) => {
    addCommonHeaders(reply)
    done(hostProblem(request))
  })
  if (logger) addRequestLog(app, logger)
  addHealthRoutes(app, services.health, services.draining)
  addMetricsRoute(app, services.metrics)
  if (services.api !== undefined) await addApi(app, services.api)
  await app.ready()
  return app
}

async function addApi(app: FastifyInstance, api: ApiServices): Promise<void> {
  await addOpenApi(app)
  await app.register(
    async (v1) => {
      readOnlyJson(v1)
      await requireApiKey(v1, api.keyId)
      limitInFlight(v1, api.maxInFlightPerKey)
      addPetRoutes(v1, api)
      addOrderRoutes(v1, api)
    },
    { prefix: '/v1' },
  )
}

function newServer(services: AppServices, logger: FastifyBaseLogger | false): FastifyInstance {
  const { headersTimeout, connectionsCheckingInterval, requestTimeout, keepAliveTimeout } = limits
  const ServerResponse = closingResponse(() => services.draining() && !app.server.listening)
  const app: FastifyInstance = Fastify({
    // A logger of its own makes Fastify listen to each response, for lines that are not wanted; what goes wrong in a
    // request is logged all the same.
    logger: false,
    ...(logger && { childLoggerFactory: () => logger }),
    logController: new LogController({ disableRequestLogging: true }),
    genReqId: requestId,
    requestTimeout,
    keepAliveTimeout,
    // Node itself answers a request without Host, but without a body.
    http: { headersTimeout, connectionsCheckingInterval, requireHostHeader: false, ServerResponse },
    return503OnClosing: false,
    // Node refuses longer request heads by itself, so that a long id is told from an unknown path.
    routerOptions: { maxParamLength: 16 * 1024 },
    frameworkErrors: (error, request, reply) => {
      addCommonHeaders(reply) // no hooks run for a URL that leads nowhere
      replyWithError(error, request, reply)
    },
    clientErrorHandler: replyToBrokenRequest,
  })
  // Node answers an unknown Expect with 417; RFC 9110 section 10.1.1 lets it be ignored.
  app.server.on('checkExpectation', (request, response) => app.server.emit('request', request, response))
  return app
}

function addCommonHeaders(reply: FastifyReply): void {
  reply.header('cache-control', 'no-store')
}

// RFC 9112 section 3.2.
function hostProblem({ raw }: FastifyRequest): ServiceError | undefined {
  if (raw.headers.host !== undefined || raw.httpVersion !== '1.1') return undefined
  return new ServiceError('invalid_request', 'The Host header is missing.')
}
