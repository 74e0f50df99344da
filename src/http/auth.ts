import bearerAuth from '@fastify/bearer-auth'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { ServiceError } from '../lib/errors.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** The id of the API key that let the request in. */
    apiKeyId: string
  }
}

/**
 * Lets a request into the routes of `app` only with a valid API key as bearer token (RFC 6750), before its body is
 * looked at. `keyId` is asked for each request, as keys come and go.
 */
export async function requireApiKey(app: FastifyInstance, keyId: (key: string) => string | undefined): Promise<void> {
  app.decorateRequest('apiKeyId', '')
  await app.register(bearerAuth, {
    addHook: false,
    specCompliance: 'rfc6749', // the scheme name in any case
    keys: [],
    auth: (key, request) => {
      request.apiKeyId = keyId(key) ?? ''
      return request.apiKeyId !== '' && !hasSecondAuthorization(request.raw.rawHeaders)
    },
    verifyErrorLogLevel: 'debug',
  })
  const verify = app.verifyBearerAuth
  if (verify === undefined) throw new Error('@fastify/bearer-auth made no verifyBearerAuth')
  app.addHook('onRequest', (request, reply, done) => {
    verify(request, reply, (error) => {
      if (error === undefined) return done()
      if (!isRefusal(error)) return done(error)
      reply.header('www-authenticate', challenge(request))
      done(new ServiceError('unauthorized', 'A valid API key is needed: Authorization: Bearer <API key>.'))
    })
  })
}

function isRefusal(error: Error): boolean {
  return 'code' in error && String(error.code).startsWith('FST_BEARER_AUTH_')
}

// RFC 6750 section 3.1: no error code when no key was sent, or another scheme was used.
function challenge({ headers }: FastifyRequest): string {
  const sentKey = /^bearer +\S/i.test(headers.authorization ?? '')
  return sentKey ? 'Bearer realm="petstore", error="invalid_token"' : 'Bearer realm="petstore"'
}

// Node keeps the first of several Authorization headers; a proxy in front may have looked at the last.
function hasSecondAuthorization(rawHeaders: readonly string[]): boolean {
  let seen = 0
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index] ?? ''
    if (name.length === 13 && name.toLowerCase() === 'authorization') seen++
  }
  return seen > 1
}
