import { Readable } from 'node:stream'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { ServiceError } from '../lib/errors.ts'
import { holderOf } from './auth.ts'
import { bodyLimit } from './request-values.ts'

declare module 'fastify' {
  interface FastifyRequest {
    isInFlight: boolean
  }
}

/**
 * Refuses requests of an owner of API keys who already has `max` in flight, including waiting ones. A request is in
 * flight from its authentication until its answer is handed to the connection, even if the client has gone: until then
 * it causes work. A request that follows events is in flight until it ends.
 */
export function limitInFlight(app: FastifyInstance, max: number): void {
  const inFlight = new Map<string, number>()
  const countOf = (owner: string) => inFlight.get(owner) ?? 0
  app.decorateRequest('isInFlight', false)
  app.addHook('onRequest', (request, _reply, done) => {
    const { owner } = holderOf(request)
    const count = countOf(owner)
    if (count >= max) {
      return done(new ServiceError('too_many_requests', `This API key already has ${max} requests in flight.`))
    }
    inFlight.set(owner, count + 1)
    request.isInFlight = true
    done()
  })
  function end(request: FastifyRequest): void {
    request.isInFlight = false
    const { owner } = holderOf(request)
    const left = countOf(owner) - 1
    if (left > 0) inFlight.set(owner, left)
    else inFlight.delete(owner)
  }
  app.addHook('onSend', (request, reply, payload, done) => {
    if (request.isInFlight) {
      // The response to a client that has gone has emitted 'close' already.
      if (payload instanceof Readable && !reply.raw.destroyed) reply.raw.once('close', () => end(request))
      else end(request)
    }
    done()
  })
}

export interface Rate {
  readonly requests: number
  readonly seconds: number
}

interface Window {
  count: number
  endsAt: number
}

type Kind = 'reads' | 'writes'

/** What each owner has sent in the current period, which begins with its first request. Each process counts on its own. */
export class RateLimit {
  readonly rate: Rate
  readonly #windows = { reads: new Map<string, Window>(), writes: new Map<string, Window>() }

  constructor(rate: Rate) {
    this.rate = rate
  }

  count(kind: Kind, owner: string, cost: number): Window {
    const window = this.#window(kind, owner)
    window.count += cost
    return window
  }

  /**
   * Counts work that goes on behind a request, as one more, if half of the period's requests are left: the owner may need
   * them. Returns 0, or the milliseconds until the next period.
   */
  countMore(kind: Kind, owner: string): number {
    const window = this.#window(kind, owner)
    if (window.count >= Math.max(1, this.rate.requests / 2)) return window.endsAt - performance.now()
    window.count++
    return 0
  }

  #window(kind: Kind, owner: string): Window {
    const now = performance.now()
    const known = this.#windows[kind].get(owner)
    if (known !== undefined && known.endsAt > now) return known
    const window = { count: 0, endsAt: now + this.rate.seconds * 1000 }
    this.#windows[kind].set(owner, window)
    return window
  }
}

/**
 * Refuses requests of an owner beyond the rate, for reads and writes separately, and announces the limit in the headers
 * of draft-ietf-httpapi-ratelimit-headers-10. A request counts once for each KiB of its body that is begun: a flood of
 * large ones would cost more than its share.
 */
export function limitRate(app: FastifyInstance, limit: RateLimit): void {
  const { requests: max, seconds } = limit.rate
  app.addHook('onRequest', (request, reply, done) => {
    const kind = request.method === 'GET' || request.method === 'HEAD' ? 'reads' : 'writes'
    const cost = costOf(request)
    const { count, endsAt } = limit.count(kind, holderOf(request).owner, cost)
    if (count <= max || count === cost) return done() // the first of a period may be larger than all of it
    const endsIn = Math.ceil((endsAt - performance.now()) / 1000)
    reply.headers({
      'retry-after': endsIn,
      'ratelimit-policy': `"${kind}";q=${max};w=${seconds}`,
      ratelimit: `"${kind}";r=0;t=${endsIn}`,
    })
    done(
      new ServiceError(
        'too_many_requests',
        `This API key has sent the ${max} ${kind} that it may send in ${seconds} s.`,
      ),
    )
  })
}

function costOf({ raw: { headers } }: FastifyRequest): number {
  const isChunked = headers['transfer-encoding'] !== undefined // then nobody knows how much comes
  const bytes = isChunked ? bodyLimit : Math.min(Number(headers['content-length'] ?? 0), bodyLimit)
  return Math.max(1, Math.ceil(bytes / 1024))
}
