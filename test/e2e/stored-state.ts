import { Redis } from 'ioredis'
import { pino } from 'pino'
import type { ReadModelStore } from '../../src/engine/read-models/ports/store.ts'
import { redisKeys } from '../../src/engine/read-models/redis/redis-keys.ts'
import { openRedisReadModels } from '../../src/engine/read-models/redis/redis-read-models.ts'
import { versionOfLog } from '../../src/engine/read-models/version-of-log.ts'
import { whenDone } from '../lib/when-done.ts'
import { petstore } from '../store/petstore.ts'
import type { brokerEnvironment } from './service.ts'
import { logIdOf } from './topic.ts'

type Environment = ReturnType<typeof brokerEnvironment>

/** In which the service, whose projections these are, stores the read models of the log of an environment. */
export async function storedVersion(environment: Environment, version: string = petstore.version): Promise<string> {
  return versionOfLog(version, await logIdOf(environment))
}

/** The read models of an environment, as the service itself opens them, or those of another version. */
export async function openStore(environment: Environment, version?: string): Promise<ReadModelStore> {
  const { REDIS_URL: url, REDIS_PREFIX: prefix } = environment
  const logger = pino({ level: 'silent' })
  const named = { url, prefix, version: version ?? (await storedVersion(environment)) }
  const store = await openRedisReadModels({ ...named, names: petstore.names, logger })
  whenDone(() => store.close())
  return store
}

/** The Redis of an environment for whatever the service would never do, and the keys of the active generation in it. */
export async function openActiveKeys(environment: Environment) {
  const redis = new Redis(environment.REDIS_URL)
  whenDone(() => redis.disconnect())
  const all = redisKeys({ prefix: environment.REDIS_PREFIX, version: await storedVersion(environment) })
  return { redis, keys: all.generation((await redis.hget(all.active, 'name')) ?? '') }
}

/** The records handled, in all partitions. */
export async function positionOf({ generations }: ReadModelStore, generation: string): Promise<number> {
  const checkpoints = (await generations.checkpoints(generation)) ?? new Map()
  return [...checkpoints.values()].reduce((sum, { next }) => sum + next, 0)
}
