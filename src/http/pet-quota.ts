import type { FastifyReply } from 'fastify'
import { errorFacts, ServiceError } from '../lib/errors.ts'
import { holderOf } from './auth.ts'

const dayMs = 86_400_000

/** How many pets an owner of API keys may add per day (UTC). Each process counts on its own, from its start. */
export class PetQuota {
  readonly #max: number
  readonly #now: () => Date
  readonly #added = new Map<string, number>()
  #day = Number.NaN

  constructor(max: number, now: () => Date) {
    this.#max = max
    this.#now = now
  }

  /**
   * Counts a pet unless it surely was not added, which `isNew` or the error of `add` tells. Throws what `add` throws,
   * and ServiceError quota_exceeded.
   */
  async count<Added>(reply: FastifyReply, add: () => Promise<Added>, isNew: (added: Added) => boolean): Promise<Added> {
    const { owner } = holderOf(reply.request)
    const time = this.#now().getTime()
    const day = Math.floor(time / dayMs)
    if (day !== this.#day) this.#added.clear()
    this.#day = day
    if ((this.#added.get(owner) ?? 0) >= this.#max) {
      reply.header('retry-after', Math.ceil(((day + 1) * dayMs - time) / 1000))
      throw new ServiceError('quota_exceeded', `This API key has added the ${this.#max} pets that it may add per day.`)
    }
    this.#change(owner, 1)
    try {
      const added = await add()
      if (!isNew(added) && day === this.#day) this.#change(owner, -1)
      return added
    } catch (error) {
      const isNone = error instanceof ServiceError && errorFacts[error.code].effect === 'none'
      if (isNone && day === this.#day) this.#change(owner, -1)
      throw error
    }
  }

  #change(owner: string, by: number): void {
    this.#added.set(owner, (this.#added.get(owner) ?? 0) + by)
  }
}
