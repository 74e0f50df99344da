import type { FastifyInstance } from 'fastify'
import { jsonType } from './error-replies.ts'

/** The state of one part, in one word and with whatever helps an operator. Must be JSON. */
export interface Check {
  readonly status: string
  readonly [detail: string]: unknown
}

export interface Liveness {
  /** False only when nothing but a restart helps. */
  readonly live: boolean
  readonly checks: Readonly<Record<string, Check>>
}

export interface Readiness {
  /** Whether requests should be sent here. */
  readonly ready: boolean
  readonly checks: Readonly<Record<string, Check>>
}

export interface Health {
  live(): Liveness
  ready(): Promise<Readiness>
}

/** The probes of an orchestrator. Their 503 is a report like their 200, not an Error. */
export function addHealthRoutes(app: FastifyInstance, health: Health, draining: () => boolean): void {
  app.get('/livez', { schema: { hide: true } }, async (_request, reply) => {
    const { live, checks } = health.live()
    reply.code(live ? 200 : 503).type(jsonType)
    return JSON.stringify({ status: live ? 'ok' : 'stalled', checks })
  })
  app.get('/readyz', { schema: { hide: true } }, async (_request, reply) => {
    const { ready, checks } = await health.ready()
    const status = draining() ? 'draining' : ready ? 'ok' : 'unready'
    reply.code(status === 'ok' ? 200 : 503).type(jsonType)
    return JSON.stringify({ status, checks })
  })
}
