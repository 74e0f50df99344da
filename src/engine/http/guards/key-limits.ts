import { Readable } from 'node:stream'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { ServiceError } from '../../lib/errors/errors.ts'
import { bodyLimit } from '../values/request-values.ts'
import { holderOf } from './auth.ts'
import type { RequestTurns } from './request-turns.ts'

declare module 'fastify' {
  interface FastifyRequest {
    isInFlight: boolean
  }
}

/** The limits of each owner of API keys. All routes that need a key share them, on each port: an owner has no second share. */
export interface KeyLimits {
  readonly inFlight: InFlightLimit
  readonly turns: RequestTurns
  /** Undefined: no limit. */
  readonly rate: RateLimit | undefined
}

/** Holds the requests to the routes of `app` to the limits of their owners. */
export function limitRequests(app: FastifyInstance, { inFlight, rate, turns }: KeyLimits): void {
  endWhenSent(app, inFlight)
  app.addHook('onRequest', (request, reply, done) => {
    const { owner } = holderOf(request)
    const problem = rateProblem(rate, owner, reply) ?? inFlightProblem(inFlight, owner)
    if (problem !== undefined) return done(problem)
    request.isInFlight = true
    turns.take(owner, done)
  })
}

/** The requests of each owner that are in flight. */
export class InFlightLimit {
  readonly max: number
  readonly #counts = new Map<string, number>()

  constructor(max: number) {
    this.max = max
  }

  /** False, and not counted, where the owner has as many as it may. */
  begin(owner: string): boolean {
    const count = this.#counts.get(owner) ?? 0
    if (count >= this.max) return false
    this.#counts.set(owner, count + 1)
    return true
  }

  end(owner: string): void {
    const left = (this.#counts.get(owner) ?? 0) - 1
    if (left > 0) this.#counts.set(owner, left)
    else this.#counts.delete(owner)
  }
}

/** The problem of an owner who already has as many in flight as the limit, including waiting ones. Counts any other. */
function inFlightProblem(limit: InFlightLimit, owner: string): ServiceError | undefined {
  if (limit.begin(owner)) return undefined
  return new ServiceError('too_many_requests', `This API key already has ${limit.max} requests in flight.`)
}

/**
 * A request is in flight from its authentication until its answer is handed to the connection, even if the client has gone:
 * until then it causes work. A request that follows events is in flight until it ends.
 */
function endWhenSent(app: FastifyInstance, limit: InFlightLimit): void {
  app.decorateRequest('isInFlight', false)
  function end(request: FastifyRequest): void {
    request.isInFlight = false
    limit.end(holderOf(request).owner)
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
 * Counts a request of an owner, for reads and writes separately. The problem of one beyond the rate, whose limit it announces
 * in the headers of draft-ietf-httpapi-ratelimit-headers-10. A request counts once for each KiB of its body that is begun: a
 * flood of large ones would cost more than its share.
 */
function rateProblem(limit: RateLimit | undefined, owner: string, reply: FastifyReply): ServiceError | undefined {
  if (limit === undefined) return undefined
  const { request } = reply
  const { requests: max, seconds } = limit.rate
  const kind = request.method === 'GET' || request.method === 'HEAD' ? 'reads' : 'writes'
  const cost = costOf(request)
  const { count, endsAt } = limit.count(kind, owner, cost)
  if (count <= max || count === cost) return undefined // the first of a period may be larger than all of it
  const endsIn = Math.ceil((endsAt - performance.now()) / 1000)
  reply.headers({
    'retry-after': endsIn,
    'ratelimit-policy': `"${kind}";q=${max};w=${seconds}`,
    ratelimit: `"${kind}";r=0;t=${endsIn}`,
  })
  const message = `This API key has sent the ${max} ${kind} that it may send in ${seconds} s.`
  return new ServiceError('too_many_requests', message)
}

function costOf({ raw: { headers } }: FastifyRequest): number {
  const isChunked = headers['transfer-encoding'] !== undefined // then nobody knows how much comes
  const bytes = isChunked ? bodyLimit : Math.min(Number(headers['content-length'] ?? 0), bodyLimit)
  return Math.max(1, Math.ceil(bytes / 1024))
}
