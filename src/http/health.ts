import type { FastifyInstance } from 'fastify'
import { jsonType } from './error-replies.ts'
import type { Traffic } from './traffic.ts'

/** The state of one part, in one word and with whatever helps an operator. Must be JSON. */
export interface Check {
  readonly status: string
  readonly [detail: string]: unknown
}
type Checks = Readonly<Record<string, Check>>

/** `live` is false only when nothing but a restart helps. */
export type Liveness = { readonly live: boolean; readonly checks: Checks }
/** `ready`: whether requests should be sent here. */
export type Readiness = { readonly ready: boolean; readonly checks: Checks }

export interface Health {
  live(): Liveness
  ready(): Promise<Readiness>
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
   * Whether this process is about to end: `/readyz` is 503 then, and once it listens no more every response asks its
   * client to close the connection.
   */
  readonly draining: () => boolean
}

/**
 * The probes of an orchestrator, whose 503 is a report like their 200, not an Error; and the metrics, for a monitoring
 * system to read as often as it likes: nothing is asked of the log or the read models. Without `details` there is only
 * what anybody may know.
 */
export function addHealthRoutes(
  app: FastifyInstance,
  { health, metrics, draining }: ProbedServices,
  { details }: { readonly details: boolean },
): void {
  const schema = { hide: true }
  const report = (status: string, checks: Checks) => JSON.stringify(details ? { status, checks } : { status })
  app.get('/livez', { schema }, async (_request, reply) => {
    const { live, checks } = health.live()
    reply.code(live ? 200 : 503).type(jsonType)
    return report(live ? 'ok' : 'stalled', checks)
  })
  app.get('/readyz', { schema }, async (_request, reply) => {
    const { ready, checks } = await health.ready()
    const isReady = ready && !draining()
    const why = draining() ? 'draining' : 'unready'
    reply.code(isReady ? 200 : 503).type(jsonType)
    return report(isReady ? 'ok' : why, checks)
  })
  if (!details) return
  app.get('/metrics', { schema }, async (_request, reply) => {
    reply.type(metrics.contentType)
    return await metrics.text()
  })
}
