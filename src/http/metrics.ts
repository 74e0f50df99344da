import type { FastifyInstance } from 'fastify'

export interface Metrics {
  /** The media type of the text. */
  readonly contentType: string
  text(): Promise<string>
}

/** For a monitoring system to read from, as often as it likes: nothing is asked of the log or the read models. */
export function addMetricsRoute(app: FastifyInstance, metrics: Metrics): void {
  app.get('/metrics', { schema: { hide: true } }, async (_request, reply) => {
    reply.type(metrics.contentType)
    return await metrics.text()
  })
}
