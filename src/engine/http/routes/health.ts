import type { FastifyInstance, FastifyRequest } from 'fastify'
import { ServiceError } from '../../lib/errors/errors.ts'
import { jsonType } from '../wire/error-replies.ts'
import { isLoopback } from '../wire/networks.ts'
import type { Traffic } from '../wire/traffic.ts'

/** The state of one part: one word, and details for operators. Must be JSON. */
export interface Check {
  readonly status: string
  readonly [detail: string]: unknown
}
type Checks = Readonly<Record<string, Check>>

export interface Health {
  /** `live` is false only if a restart, and nothing else, can help. */
  live(): { readonly live: boolean; readonly checks: Checks }
  /** `ready`: whether to send requests here. */
  ready(): Promise<{ readonly ready: boolean; readonly checks: Checks }>
}

export interface Metrics {
  /** The media type of the text. */
  readonly contentType: string
  text(): Promise<string>
}

export interface ProbedServices {
  readonly health: Health
  readonly metrics: Metrics
  /** Counts the requests of both ports. */
  readonly traffic: Traffic
  /**
   * Whether this process is about to end. `/readyz` is then 503, and once the server no longer listens, every response
   * asks its client to close the connection.
   */
  readonly draining: () => boolean
}

/** What proxies add; some add nothing, and only pass on the Host that their client asked for. */
const forwarding = /^(forwarded|via|x-forwarded-.*|x-real-ip|.*-(client|connecting)-ip)$/

/** Whether a request comes from this machine itself, as far as it tells: a proxy here connects from loopback too. */
function isLocal({ headers }: FastifyRequest): boolean {
  const host = headers.host?.replace(/:\d*$/, '') ?? ''
  return isLoopback(host) && !Object.keys(headers).some((name) => forwarding.test(name))
}

/**
 * The probes of an orchestrator, whose 503 is a report like their 200 and not an Error; and the metrics, which may be
 * read at any rate, since reading them sends nothing to the log or the read models. Whoever is not to have the details
 * gets public information alone.
 */
export function addHealthRoutes(
  app: FastifyInstance,
  { health, metrics, draining }: ProbedServices,
  { detailsFor }: { readonly detailsFor: 'everybody' | 'local requests' | 'nobody' },
): void {
  const schema = { hide: true }
  const isDetailed = (request: FastifyRequest) =>
    detailsFor === 'everybody' || (detailsFor === 'local requests' && isLocal(request))
  const report = (request: FastifyRequest, status: string, checks: Checks) =>
    JSON.stringify(isDetailed(request) ? { status, checks } : { status })
  app.get('/livez', { schema }, async (request, reply) => {
    const { live, checks } = health.live()
    reply.code(live ? 200 : 503).type(jsonType)
    return report(request, live ? 'ok' : 'stalled', checks)
  })
  app.get('/readyz', { schema }, async (request, reply) => {
    const { ready, checks } = await health.ready()
    const isReady = ready && !draining()
    const why = draining() ? 'draining' : 'unready'
    reply.code(isReady ? 200 : 503).type(jsonType)
    return report(request, isReady ? 'ok' : why, checks)
  })
  if (detailsFor === 'nobody') return
  app.get('/metrics', { schema }, async (request, reply) => {
    if (!isDetailed(request)) throw new ServiceError('route_not_found', 'There is nothing at /metrics.')
    reply.type(metrics.contentType)
    return await metrics.text()
  })
}
