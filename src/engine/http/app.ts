import type { FastifyInstance } from 'fastify'
import type { Logger } from 'pino'
import { errorTable } from '../door/errors.ts'
import type { Tracing } from '../lib/operating/tracing.ts'
import { addDocs } from './documents/docs.ts'
import { requireApiKey } from './guards/auth.ts'
import { type KeyLimits, limitRequests } from './guards/key-limits.ts'
import { addCommandRoutes } from './routes/command-routes.ts'
import { addEventRoutes } from './routes/events.ts'
import { addHealthRoutes, type ProbedServices } from './routes/health.ts'
import { traceRequests } from './routes/request-spans.ts'
import type { RouteServices } from './routes/resource.ts'
import { addResourceRoutes } from './routes/resource-routes.ts'
import { loggedPath, messageProblem } from './values/messages.ts'
import { readOnlyJson } from './values/request-values.ts'
import type { ConnectionLimits } from './wire/connections.ts'
import { preflightAnswer } from './wire/cors.ts'
import { isKnownPath, noSuchRoute, replyWithError } from './wire/error-replies.ts'
import { clientAddress } from './wire/networks.ts'
import { logRefusedRequests } from './wire/refused-requests.ts'
import { newServer, type ServerOptions } from './wire/server.ts'

declare module 'fastify' {
  interface FastifyInstance {
    /** What clients put before the path of an address here: the path of the public URL, without a slash at its end. */
    basePath: string
  }
}

export interface ApiServices extends RouteServices, KeyLimits {
  /** Whether an API key that `findKey` found before is still valid. */
  readonly isKeyValid: (keyId: string) => boolean
  /** Undefined: nothing is traced. */
  readonly tracing?: Tracing | undefined
  /** The topic of the events; null where there is no Kafka. */
  readonly topic: string | null
}

export interface AppServices extends ProbedServices {
  /** Undefined in a process that serves no API: it then has only the routes without a key, and no documentation. */
  readonly api?: ApiServices | undefined
  /** Adds the console of operators, beside the API. */
  readonly addConsole?: ((app: FastifyInstance, api: ApiServices) => void) | undefined
}

export interface AppOptions {
  readonly logger: Logger | false
  /** Whether to log each write, with its API key and address. */
  readonly logsWrites: boolean
  /** Whether requests from this machine itself get the details of probes, and the metrics, on the port of the API. */
  readonly probesInDetail: boolean
  /** Origins of pages that may call the API from a browser, as browsers write them. */
  readonly corsOrigins: readonly string[]
  /** What clients reach this service under, without a slash at its end. Empty: what they took the document from. */
  readonly publicUrl: string
  readonly connections: ConnectionLimits
}

/** The HTTP server, ready to listen or to receive injected requests. Closing it finishes its current requests. */
export async function buildApp(
  services: AppServices,
  { logger, logsWrites, probesInDetail, corsOrigins, publicUrl, connections }: AppOptions,
): Promise<FastifyInstance> {
  const basePath = publicUrl === '' ? '' : new URL(publicUrl).pathname.replace(/\/$/, '')
  const errors = services.api?.definition.errors ?? errorTable([], {})
  const errorsPage = services.api === undefined ? undefined : `${basePath}/docs/errors`
  const app = newApp(services, { logger, errors, connections, corsOrigins: new Set(corsOrigins), errorsPage })
  app.decorate('basePath', basePath).decorate('realm', services.api?.definition.service.name ?? '')
  if (logger) addRequestLog(app, logger, logsWrites)
  addHealthRoutes(app, services, { detailsFor: probesInDetail ? 'local requests' : 'nobody' })
  if (services.api !== undefined) await addApi(app, services.api, publicUrl)
  if (services.api !== undefined) services.addConsole?.(app, services.api)
  await app.ready()
  return app
}

/** Each tab of the console takes some. */
const adminConnectionsMax = 256

/**
 * As `buildApp`, for a port that only operators can reach: the probes and the metrics; and, where there is a console, that
 * with the API.
 */
export async function buildAdminApp(services: AppServices, logger: Logger | false): Promise<FastifyInstance> {
  const api = services.addConsole && services.api
  const errors = api?.definition.errors ?? errorTable([], {})
  const connections = { max: adminConnectionsMax, maxPerAddress: adminConnectionsMax, isTrustedProxy: () => false }
  const errorsPage = api && '/docs/errors'
  const app = newApp(services, { logger, errors, connections, corsOrigins: new Set(), errorsPage })
  app.decorate('basePath', '').decorate('realm', api?.definition.service.name ?? '')
  addHealthRoutes(app, services, { detailsFor: 'everybody' })
  if (api !== undefined) await addApi(app, api, '')
  if (api !== undefined) services.addConsole?.(app, api)
  await app.ready()
  return app
}

function newApp(
  { draining, traffic, api }: AppServices,
  options: Omit<ServerOptions, 'isClosing' | 'isKeyValid' | 'traffic'>,
): FastifyInstance {
  const app: FastifyInstance = newServer({
    ...options,
    traffic,
    isKeyValid: (keyId) => api?.isKeyValid(keyId) ?? false,
    isClosing: () => draining() && !app.server.listening,
  })
  app.removeAllContentTypeParsers() // only /v1 reads bodies: elsewhere a body changes no answer
  app.addHook('onRequest', (request, reply, done) => {
    const isKnown = isKnownPath(request)
    if (isKnown) traffic.assign(request, reply)
    reply.header('cache-control', 'no-store')
    const problem = messageProblem(request.raw)
    if (problem !== undefined) return done(problem)
    const preflight = preflightAnswer(options.corsOrigins, request.raw)
    if (preflight !== undefined) return void reply.code(204).headers(preflight).send()
    // Not by `done`: a route that the router took for this one adds its headers to errors.
    if (!isKnown) return void replyWithError(noSuchRoute(request, reply), request, reply)
    done()
  })
  return app
}

async function addApi(app: FastifyInstance, api: ApiServices, publicUrl: string): Promise<void> {
  addDocs(app, api, publicUrl)
  await app.register(
    async (v1) => {
      if (api.tracing !== undefined) traceRequests(v1, api.tracing)
      readOnlyJson(v1)
      await requireApiKey(v1, api.findKey)
      limitRequests(v1, api)
      addResourceRoutes(v1, api)
      addCommandRoutes(v1, api)
      addEventRoutes(v1, api)
    },
    { prefix: '/v1' },
  )
}

/**
 * Logs refusals from time to time, and one line when a response is sent: for writes of a key if configured, and for all
 * requests at level debug. Fastify's own lines would be built for every request at any level.
 */
function addRequestLog(app: FastifyInstance, logger: Logger, logsWrites: boolean): void {
  logRefusedRequests(app, logger)
  const logsAll = logger.isLevelEnabled('debug')
  if (!logsAll && !logsWrites) return
  app.addHook('onResponse', (request, { statusCode, elapsedTime: elapsedMs }, done) => {
    const { id: requestId, method, url, holder, isSummedUp } = request
    // Whoever has no key could write as much as the log takes.
    const isWrite = method !== 'GET' && method !== 'HEAD' && holder !== undefined && !isSummedUp
    if (!logsAll && !isWrite) return done()
    const address = clientAddress(request)
    const line = { requestId, method, path: loggedPath(url), statusCode, elapsedMs, address, keyId: holder?.keyId }
    if (isWrite && logsWrites) logger.info(line, 'request')
    else if (logsAll) logger.debug(line, 'request')
    done()
  })
}
