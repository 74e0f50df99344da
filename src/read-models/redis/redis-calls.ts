import type { Redis } from 'ioredis'
import { ServiceError } from '../../lib/errors.ts'
import { type GenerationKeys, indexOfField } from './redis-keys.ts'

/** Commands and scripts on one connection: all of them fail with the code of the catalogue. */
export class RedisCalls {
  readonly #redis: Redis

  constructor(redis: Redis) {
    this.#redis = redis
  }

  async answer<T>(ask: (redis: Redis) => Promise<T>): Promise<T> {
    try {
      return await ask(this.#redis)
    } catch (cause) {
      throw new ServiceError('read_model_unavailable', 'The read models do not answer.', { cause })
    }
  }

  /** The indexes that anything was ever added to. There may be another one at once. */
  async indexesOf({ checkpoints }: GenerationKeys): Promise<string[]> {
    const fields = await this.answer((redis) => redis.hkeys(checkpoints))
    return fields.flatMap((field) => indexOfField(field) ?? [])
  }
}
