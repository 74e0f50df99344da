import type { FastifyInstance } from 'fastify'
import { asyncApiDocument } from '../domain/asyncapi.ts'
import { jsonType } from './error-replies.ts'

/** `/asyncapi.json`, of the topic that this process writes to; null where there is no Kafka. */
export function addAsyncApi(app: FastifyInstance, topic: string | null): void {
  const text = JSON.stringify(asyncApiDocument(topic))
  app.get('/asyncapi.json', { schema: { hide: true } }, async (_request, reply) => {
    reply.type(jsonType)
    return text
  })
}
