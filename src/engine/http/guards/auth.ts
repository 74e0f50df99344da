import bearerAuth from '@fastify/bearer-auth'
import type { FastifyInstance, FastifyReply, FastifyRequest, onRequestHookHandler } from 'fastify'
import type { KeyHolder } from '../../api-keys/key-ring.ts'
import { ServiceError } from '../../lib/errors/errors.ts'
import { operatingScope } from '../../lib/operating/operating-scope.ts'
import { isRepeated } from '../values/messages.ts'
import { type Connection, connectionOf } from '../wire/connection.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** The holder of the API key. Undefined only if no key was needed, or none was valid. */
    holder: KeyHolder | undefined
  }
  interface FastifyInstance {
    /** What API keys are for (RFC 9110 section 11.5): the name of the service. */
    realm: string
  }
}

/**
 * Undefined when the API key is not valid, which may take a moment to find out; by the clock of `performance`, not if the
 * keys were looked at since its request arrived.
 */
export type FindKey = (key: string, arrivedAtMs?: number) => KeyHolder | undefined | Promise<KeyHolder | undefined>

/**
 * Lets a request into the routes of `app` only with a valid API key as bearer token (RFC 6750), before its body is
 * read. `find` is called for each request, since keys can change.
 */
export async function requireApiKey(app: FastifyInstance, find: FindKey): Promise<void> {
  app.decorateRequest('holder', undefined)
  await app.register(bearerAuth, {
    addHook: false,
    specCompliance: 'rfc6749', // the scheme name in any case
    keys: [],
    auth: (key, request) => {
      const { rawHeaders, socket } = request.raw
      const connection = connectionOf(socket)
      const found = isRepeated(rawHeaders, 'authorization') ? undefined : find(key, connection?.arrivedAtMs)
      return found instanceof Promise
        ? found.then((holder) => letIn(request, connection, holder))
        : letIn(request, connection, found)
    },
    verifyErrorLogLevel: 'debug',
  })
  const verify = app.verifyBearerAuth
  if (verify === undefined) throw new Error('@fastify/bearer-auth did not create verifyBearerAuth')
  app.addHook('onRequest', (request, reply, done) => {
    verify(request, reply, (error) => {
      if (error === undefined || reply.statusCode !== 401) return done(error)
      reply.header('www-authenticate', challenge(request))
      done(new ServiceError('unauthorized', 'A valid API key is needed: Authorization: Bearer <API key>.'))
    })
  })
}

/** Whether there is a holder of the API key. */
function letIn(request: FastifyRequest, connection: Connection | undefined, holder: KeyHolder | undefined): boolean {
  request.holder = holder
  if (holder === undefined) return false
  connection?.letIn(holder)
  return true
}

// RFC 6750 section 3.1: no error code if no key was sent, or another scheme was used.
function challenge({ headers, server }: FastifyRequest): string {
  const sentKey = /^bearer +\S/i.test(headers.authorization ?? '')
  return `Bearer realm="${server.realm}"${sentKey ? ', error="invalid_token"' : ''}`
}

/** The holder of the API key, on a route that needs one. */
export function holderOf({ holder }: FastifyRequest): KeyHolder {
  if (holder === undefined) throw new Error('a route without a key asked for the holder')
  return holder
}

/** Whether the API key that let a request in is still valid, for answers that take long. */
export async function isStillValid({ headers }: FastifyRequest, find: FindKey): Promise<boolean> {
  const key = (headers.authorization ?? '').slice('Bearer '.length).trim() // as it was read to let the request in
  return (await find(key)) !== undefined
}

export function mayOperate({ operates = false }: KeyHolder): boolean {
  return operates
}

/** A hook of a route: accepts a request only if its API key has the scope. */
export function requireScope(scope: string): onRequestHookHandler {
  return (_request: FastifyRequest, reply: FastifyReply, done: (error?: Error) => void) => done(problemOf(scope, reply))
}

/** Throws ServiceError insufficient_scope unless the API key has the scope. */
export function checkScope(scope: string, reply: FastifyReply): void {
  const problem = problemOf(scope, reply)
  if (problem !== undefined) throw problem
}

/** RFC 6750 section 3.1. */
function problemOf(scope: string, reply: FastifyReply): ServiceError | undefined {
  const holder = holderOf(reply.request)
  if (scope === operatingScope ? mayOperate(holder) : (holder.scopes?.has(scope) ?? true)) return undefined
  reply.header('www-authenticate', `Bearer realm="${reply.server.realm}", error="insufficient_scope", scope="${scope}"`)
  return new ServiceError('insufficient_scope', `This API key lacks the scope ${scope}.`)
}
