import rateLimit from '@fastify/rate-limit'
import type { FastifyInstance } from 'fastify'
import { ServiceError } from '../lib/errors.ts'
import { holderOf } from './auth.ts'

declare module 'fastify' {
  interface FastifyRequest {
    isInFlight: boolean
  }
}

/**
 * Refuses requests of an owner of API keys who has `max` in flight already, waiting ones included. A request is in flight
 * from its authentication until its answer is handed to the connection, even where the client has gone: until then there is
 * work for it.
 */
export function limitInFlight(app: FastifyInstance, max: number): void {
  const inFlight = new Map<string, number>()
  const countOf = (owner: string) => inFlight.get(owner) ?? 0
  app.decorateRequest('isInFlight', false)
  app.addHook('onRequest', (request, _reply, done) => {
    const { owner } = holderOf(request)
    const count = countOf(owner)
    if (count >= max) {
      return done(new ServiceError('too_many_requests', `This API key has ${max} requests in flight already.`))
    }
    inFlight.set(owner, count + 1)
    request.isInFlight = true
    done()
  })
  app.addHook('onSend', (request, _reply, _payload, done) => {
    if (request.isInFlight) {
      request.isInFlight = false
      const { owner } = holderOf(request)
      const left = countOf(owner) - 1
      if (left > 0) inFlight.set(owner, left)
      else inFlight.delete(owner)
    }
    done()
  })
}

export interface Rate {
  readonly requests: number
  readonly seconds: number
}

/** The owners whose requests are counted at a time: more than a file of keys has. */
const ownersMax = 100_000

/**
 * Refuses requests of an owner beyond the rate, reads and writes apart, and tells what is left of it in the headers of
 * draft-ietf-httpapi-ratelimit-headers-10. Each process counts for itself.
 */
export async function limitRate(app: FastifyInstance, { requests: max, seconds }: Rate): Promise<void> {
  await app.register(rateLimit, { global: false, cache: ownersMax })
  const keyGenerator = (request: Parameters<typeof holderOf>[0]) => holderOf(request).owner
  const limiter = () => app.createRateLimit({ max, timeWindow: seconds * 1000, keyGenerator })
  const limiters = { reads: limiter(), writes: limiter() }
  app.addHook('onRequest', async (request, reply) => {
    const kind = request.method === 'GET' || request.method === 'HEAD' ? 'reads' : 'writes'
    const state = await limiters[kind](request)
    if (state.isAllowed) return // only of an owner who is not counted, and there is none
    reply.header('ratelimit-policy', `"${kind}";q=${max};w=${seconds}`)
    reply.header('ratelimit', `"${kind}";r=${state.remaining};t=${state.ttlInSeconds}`)
    if (!state.isExceeded) return
    reply.header('retry-after', state.ttlInSeconds)
    throw new ServiceError(
      'too_many_requests',
      `This API key may send ${max} ${kind} in ${seconds} s, and has done so.`,
    )
  })
}
