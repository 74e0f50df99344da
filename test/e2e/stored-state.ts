import { Redis } from 'ioredis'
import { pino } from 'pino'
import { onTestFinished } from 'vitest'
import { petStreams } from '../../src/app/petstore.ts'
import { readModelVersion } from '../../src/projector/definition.ts'
import { redisKeys } from '../../src/read-models/redis/redis-keys.ts'
import { openRedisReadModels } from '../../src/read-models/redis/redis-read-models.ts'
import type { ReadModelStore } from '../../src/read-models/store.ts'
import type { Environment } from './service.ts'

const { home, projections } = petStreams
export const ownVersion = readModelVersion(projections)

/** The read models of an environment, as the service itself opens them, or those of another version. */
export async function openStore(
  { REDIS_URL: url = '', REDIS_PREFIX: prefix = '' }: Environment,
  version = ownVersion,
): Promise<ReadModelStore> {
  const logger = pino({ level: 'silent' })
  const store = await openRedisReadModels({ url, prefix, version, home, logger })
  onTestFinished(() => store.close())
  return store
}

/** The Redis of an environment for whatever the service would never do, and the keys of the active generation in it. */
export async function openActiveKeys({ REDIS_URL: url = '', REDIS_PREFIX: prefix = '' }: Environment) {
  const redis = new Redis(url)
  onTestFinished(() => redis.disconnect())
  const all = redisKeys({ prefix, version: ownVersion })
  return { redis, keys: all.generation((await redis.hget(all.active, 'name')) ?? '') }
}

/** The records handled, in all partitions. */
export async function positionOf({ generations }: ReadModelStore, generation: string): Promise<number> {
  const checkpoints = (await generations.checkpoints(generation)) ?? new Map()
  return [...checkpoints.values()].reduce((sum, { next }) => sum + next, 0)
}
