import bearerAuth from '@fastify/bearer-auth'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { ServiceError } from '../lib/errors.ts'
import { isRepeated } from './messages.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** Whose API key let the request in. */
    apiKeyOwner: string
    isInFlight: boolean
  }
}

/**
 * Lets a request into the routes of `app` only with a valid API key as bearer token (RFC 6750), before its body is
 * looked at. `ownerOf` is asked for each request, as keys come and go.
 */
export async function requireApiKey(app: FastifyInstance, ownerOf: (key: string) => string | undefined): Promise<void> {
  app.decorateRequest('apiKeyOwner', '')
  await app.register(bearerAuth, {
    addHook: false,
    specCompliance: 'rfc6749', // the scheme name in any case
    keys: [],
    auth: (key, request) => {
      request.apiKeyOwner = ownerOf(key) ?? ''
      return request.apiKeyOwner !== '' && !isRepeated(request.raw.rawHeaders, 'authorization')
    },
    verifyErrorLogLevel: 'debug',
  })
  const verify = app.verifyBearerAuth
  if (verify === undefined) throw new Error('@fastify/bearer-auth made no verifyBearerAuth')
  app.addHook('onRequest', (request, reply, done) => {
    verify(request, reply, (error) => {
      if (error === undefined || reply.statusCode !== 401) return done(error)
      reply.header('www-authenticate', challenge(request))
      done(new ServiceError('unauthorized', 'A valid API key is needed: Authorization: Bearer <API key>.'))
    })
  })
}

// RFC 6750 section 3.1: no error code when no key was sent, or another scheme was used.
function challenge({ headers }: FastifyRequest): string {
  const sentKey = /^bearer +\S/i.test(headers.authorization ?? '')
  return sentKey ? 'Bearer realm="petstore", error="invalid_token"' : 'Bearer realm="petstore"'
}

/**
 * Refuses requests of an API key that has `max` in flight already, waiting ones included. A request is in flight from its
 * authentication until its answer is handed to the connection, even where the client has gone: until then there is work
 * for it.
 */
export function limitInFlight(app: FastifyInstance, max: number): void {
  const inFlight = new Map<string, number>()
  const countOf = (apiKeyOwner: string) => inFlight.get(apiKeyOwner) ?? 0
  app.decorateRequest('isInFlight', false)
  app.addHook('onRequest', (request, _reply, done) => {
    const count = countOf(request.apiKeyOwner)
    if (count >= max) {
      return done(new ServiceError('too_many_requests', `This API key has ${max} requests in flight already.`))
    }
    inFlight.set(request.apiKeyOwner, count + 1)
    request.isInFlight = true
    done()
  })
  app.addHook('onSend', (request, _reply, _payload, done) => {
    if (request.isInFlight) {
      request.isInFlight = false
      const left = countOf(request.apiKeyOwner) - 1
      if (left > 0) inFlight.set(request.apiKeyOwner, left)
      else inFlight.delete(request.apiKeyOwner)
    }
    done()
  })
}
