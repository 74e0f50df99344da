import type { Redis } from 'ioredis'
import { ServiceError } from '../../lib/errors.ts'
import type { GenerationKeys } from './redis-keys.ts'
import { type Replies, runScript, type Script } from './redis-scripts.ts'

/** Commands and scripts on one connection: all of them fail with the code of the catalogue. */
export class RedisCalls {
  readonly #redis: Redis

  constructor(redis: Redis) {
    this.#redis = redis
  }

  run<S extends Script>(
    script: S,
    keys: readonly string[],
    args: readonly (string | number)[] = [],
  ): Promise<Replies[S]> {
    return this.answer((redis) => runScript(redis, script, keys, args))
  }

  async answer<T>(ask: (redis: Redis) => Promise<T>): Promise<T> {
    try {
      return await ask(this.#redis)
    } catch (cause) {
      throw new ServiceError('read_model_unavailable', 'The read models do not answer.', { cause })
    }
  }

  /** Everything of a generation whose size is recorded, by field of `sizes`. There may be more at once. */
  sizedFields({ sizes }: GenerationKeys): Promise<string[]> {
    return this.answer((redis) => redis.hkeys(sizes))
  }

  /** Nothing may write to these keys any more. On a cluster: those of the node that the connection leads to. */
  async removeKeys(pattern: string): Promise<void> {
    let cursor = '0'
    do {
      const [next, found] = await this.answer((redis) => redis.scan(cursor, 'MATCH', pattern, 'COUNT', 1000))
      if (found.length > 0) await this.answer((redis) => redis.unlink(found))
      cursor = next
    } while (cursor !== '0')
  }
}
