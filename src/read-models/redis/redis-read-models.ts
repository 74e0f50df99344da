import { Listeners } from '../listeners.ts'
import type { ReadModelStore } from '../store.ts'
import { GroupReader } from './group-reader.ts'
import { RedisCalls } from './redis-calls.ts'
import type { ConnectionLogger } from './redis-connection.ts'
import { openConnections } from './redis-connections.ts'
import { RedisGenerations } from './redis-generations.ts'
import { redisInspection } from './redis-inspection.ts'
import { redisKeys, type StoreName } from './redis-keys.ts'
import { RedisProgress } from './redis-progress.ts'
import { RedisProjection } from './redis-projection.ts'
import { RedisReads } from './redis-reads.ts'

export interface RedisReadModelsOptions extends StoreName {
  /** redis:// or rediss:// */
  readonly url: string
  /** The collection whose documents show the streams of the same id. */
  readonly home: string
  readonly logger: ConnectionLogger
  /** How long to wait for a server that does not answer yet; 30 s when omitted. */
  readonly openTimeoutMs?: number | undefined
}

const defaultOpenTimeoutMs = 30_000

/**
 * Read models in Redis 6.2 or later, or on one master of a Redis Cluster. Resolves once the server answers; throws
 * OutOfReachError when it does not in time, and an Error that says what to do when it refuses this client or may evict keys.
 */
export async function openRedisReadModels({
  url,
  prefix,
  version,
  home,
  logger,
  openTimeoutMs = defaultOpenTimeoutMs,
}: RedisReadModelsOptions): Promise<ReadModelStore> {
  const name = { prefix, version }
  const keys = redisKeys(name)
  const connections = await openConnections(url, keys.active, logger, openTimeoutMs)
  const calls = new RedisCalls(connections.commands)
  const listeners = new Listeners({ connected: false })
  const progress = new RedisProgress(connections.subscriber, keys.progress, listeners)
  return {
    reads: new RedisReads(new GroupReader(keys, (names, args) => calls.run('read', names, args)), home),
    projection: new RedisProjection(calls, keys, home),
    generations: new RedisGenerations(calls, (key) => new RedisCalls(connections.to(key)), name, listeners),
    inspection: redisInspection(calls, keys),
    async close() {
      progress.close()
      await connections.close()
    },
  }
}
