import type { FastifyInstance } from 'fastify'
import { jsonType } from './error-replies.ts'
import type { Traffic } from './traffic.ts'

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

/**
 * The probes of an orchestrator, whose 503 is a report like their 200 and not an Error; and the metrics, which may be
 * read at any rate, since reading them sends nothing to the log or the read models. Without `details` they give only
 * public information.
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
