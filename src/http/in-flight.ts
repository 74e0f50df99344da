import type { FastifyInstance } from 'fastify'
import { ServiceError } from '../lib/errors.ts'

declare module 'fastify' {
  interface FastifyRequest {
    isInFlight: boolean
  }
}

/**
 * Refuses requests of an API key that has `max` in flight already, waiting ones included. A request is in flight from its
 * authentication until its answer is handed to the connection, even where the client has gone: until then there is work
 * for it, and for a pipelined request on a closed connection nothing else tells that it is over.
 */
export function limitInFlight(app: FastifyInstance, max: number): void {
  const inFlight = new Map<string, number>()
  app.decorateRequest('isInFlight', false)
  app.addHook('onRequest', (request, _reply, done) => {
    const count = inFlight.get(request.apiKeyId) ?? 0
    if (count >= max) {
      return done(new ServiceError('too_many_requests', `This API key has ${max} requests in flight already.`))
    }
    inFlight.set(request.apiKeyId, count + 1)
    request.isInFlight = true
    done()
  })
  app.addHook('onSend', (request, _reply, _payload, done) => {
    if (request.isInFlight) {
      request.isInFlight = false
      const count = inFlight.get(request.apiKeyId) ?? 0
      if (count > 1) inFlight.set(request.apiKeyId, count - 1)
      else inFlight.delete(request.apiKeyId)
    }
    done()
  })
}
