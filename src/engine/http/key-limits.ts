import { Readable } from 'node:stream'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Handled } from '../commands/command-handler.ts'
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

const dayMs = 86_400_000

/** A pet that counts towards the quota. */
interface CountedPet {
  /** How many requests for it are in progress, or may have added it: more than one only under an Idempotency-Key. */
  requests: number
  uncount(): void
}

/** How many pets an owner of API keys may add per day (UTC). Each process counts on its own, from its start. */
export class PetQuota {
  readonly #max: number
  readonly #now: () => Date
  #day = Number.NaN
  #added = new Map<string, number>()
  /** Those of today that have an idempotency key. */
  #keyed = new Map<string, CountedPet>()

  constructor(max: number, now: () => Date) {
    this.#max = max
    this.#now = now
  }

  /**
   * Counts a pet unless it surely was not added, which the outcome or the error of `add` tells. All requests of a day
   * under one `idempotencyKey` count once, so that a retry is not refused. Throws what `add` throws, and ServiceError
   * quota_exceeded.
   */
  async count<State>(
    reply: FastifyReply,
    idempotencyKey: string | undefined,
    add: () => Promise<Handled<State>>,
  ): Promise<Handled<State>> {
    const pet = this.#admit(reply, idempotencyKey)
    pet.requests++
    let mayBeAdded = true
    try {
      const added = await add()
      mayBeAdded = added.outcome !== 'replayed'
      return added
    } catch (error) {
      mayBeAdded = !(error instanceof ServiceError) || reply.server.errors.get(error.code)?.effect !== 'none'
      throw error
    } finally {
      if (!mayBeAdded) pet.requests--
      if (pet.requests === 0) pet.uncount()
    }
  }

  #admit(reply: FastifyReply, key: string | undefined): CountedPet {
    const time = this.#now().getTime()
    const day = Math.floor(time / dayMs)
    if (day !== this.#day) [this.#day, this.#added, this.#keyed] = [day, new Map(), new Map()]
    const [added, keyed] = [this.#added, this.#keyed] // a request that ends on another day uncounts its pet here
    const known = key === undefined ? undefined : keyed.get(key)
    if (known !== undefined) return known
    const { owner } = holderOf(reply.request)
    const count = added.get(owner) ?? 0
    if (count >= this.#max) {
      reply.header('retry-after', Math.ceil(((day + 1) * dayMs - time) / 1000))
      throw new ServiceError('quota_exceeded', `This API key has added the ${this.#max} pets that it may add per day.`)
    }
    added.set(owner, count + 1)
    const pet = {
      requests: 0,
      uncount() {
        added.set(owner, (added.get(owner) ?? 0) - 1)
        if (key !== undefined) keyed.delete(key)
      },
    }
    if (key !== undefined) keyed.set(key, pet)
    return pet
  }
}
