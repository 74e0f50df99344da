import type { FastifyBaseLogger, FastifyInstance } from 'fastify'
import { limitInFlight, requireApiKey } from './auth.ts'
import type { ConnectionLimits } from './connections.ts'
import { addDocs } from './docs.ts'
import { notFound } from './error-replies.ts'
import { addHealthRoutes, type ProbedServices } from './health.ts'
import { admitBody, messageProblem } from './messages.ts'
import { addOpenApi } from './openapi.ts'
import { addOrderRoutes } from './orders.ts'
import { addPetRoutes } from './pets.ts'
import { compileRequestCheck, readOnlyJson } from './request-values.ts'
import type { RouteServices } from './resource.ts'
import { newServer } from './server.ts'

export interface ApiServices extends RouteServices {
  /** The id of the API key, or undefined when the key is not valid. */
  readonly ownerOf: (key: string) => string | undefined
  readonly maxInFlightPerKey: number
}

export interface AppServices extends ProbedServices {
  /** Undefined in a process that serves no API: then there are only the routes without a key, less the documents. */
  readonly api?: ApiServices | undefined
}

export interface AppOptions {
  readonly logger: FastifyBaseLogger | false
  readonly connections: ConnectionLimits
  /** The longest that a command is waited for, in milliseconds. */
  readonly appendTimeoutMs: number
}

/** The longest that a request waits beside its append: for another one of its stream, and for the read models. */
const otherWaitsMs = 10_000

/** The HTTP server, ready to listen or to be injected requests. Closing it finishes the requests it has. */
export async function buildApp(
  services: AppServices,
  { logger, connections, appendTimeoutMs }: AppOptions,
): Promise<FastifyInstance> {
  const app: FastifyInstance = newServer({
    logger,
    connections,
    answerWithinMs: appendTimeoutMs + otherWaitsMs,
    isClosing: () => services.draining() && !app.server.listening,
  })
  app.setValidatorCompiler(compileRequestCheck)
  app.setSerializerCompiler(() => JSON.stringify) // response schemas are for the document; answers are sent as text
  app.removeAllContentTypeParsers() // only what /v1 adds is read: elsewhere a body changes no answer
  app.addHook('onRequest', (request, reply, done) => {
    reply.header('cache-control', 'no-store')
    // Fastify has demands on a body even where there is nothing.
    done(messageProblem(request.raw) ?? (request.is404 ? notFound(request, reply) : undefined))
  })
  if (logger) addRequestLog(app, logger)
  addHealthRoutes(app, services)
  if (services.api !== undefined) await addApi(app, services.api)
  await app.ready()
  return app
}

async function addApi(app: FastifyInstance, api: ApiServices): Promise<void> {
  await addOpenApi(app)
  addDocs(app)
  await app.register(
    async (v1) => {
      readOnlyJson(v1)
      await requireApiKey(v1, api.ownerOf)
      limitInFlight(v1, api.maxInFlightPerKey)
      v1.addHook('onRequest', admitBody)
      addPetRoutes(v1, api)
      addOrderRoutes(v1, api)
    },
    { prefix: '/v1' },
  )
}

/** One line when a response is sent, at level debug: Fastify's own would be made for every request at any level. */
function addRequestLog(app: FastifyInstance, logger: FastifyBaseLogger): void {
  if (logger.level !== 'debug' && logger.level !== 'trace') return
  app.addHook('onResponse', ({ id: requestId, method, url }, { statusCode, elapsedTime }, done) => {
    logger.debug({ requestId, method, url, statusCode, elapsedMs: elapsedTime }, 'request')
    done()
  })
}
