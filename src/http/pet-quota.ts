import type { FastifyReply } from 'fastify'
import { errorFacts, ServiceError } from '../lib/errors.ts'
import { holderOf } from './auth.ts'

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
   * Counts a pet unless it surely was not added, which `isNew` or the error of `add` tells. All requests of a day under
   * one `idempotencyKey` count once, so that a retry is not refused. Throws what `add` throws, and ServiceError
   * quota_exceeded.
   */
  async count<Added>(
    reply: FastifyReply,
    idempotencyKey: string | undefined,
    add: () => Promise<Added>,
    isNew: (added: Added) => boolean,
  ): Promise<Added> {
    const pet = this.#admit(reply, idempotencyKey)
    pet.requests++
    let mayBeAdded = true
    try {
      const added = await add()
      mayBeAdded = isNew(added)
      return added
    } catch (error) {
      mayBeAdded = !(error instanceof ServiceError) || errorFacts[error.code].effect !== 'none'
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
