import { Listeners } from '../listeners.ts'
import type { ReadModelStore } from '../ports/store.ts'
import type { StreamNames } from '../stream-names.ts'
import { groupReader } from './group-reader.ts'
import { run } from './redis-calls.ts'
import type { RedisAccess } from './redis-client.ts'
import { type ConnectionLogger, openConnections } from './redis-connection.ts'
import { redisGenerations } from './redis-generations.ts'
import { redisInspection } from './redis-inspection.ts'
import { redisKeys, type StoreName } from './redis-keys.ts'
import { hearProgress } from './redis-progress.ts'
import { redisProjection } from './redis-projection.ts'
import { redisReads } from './redis-reads.ts'

export interface RedisReadModelsOptions extends StoreName, RedisAccess {
  readonly names: StreamNames
  readonly logger: ConnectionLogger
  /** How long to wait for a server that does not answer yet; by default 30 s. */
  readonly openTimeoutMs?: number | undefined
}

/**
 * Read models in Redis 6.2 or later, or on one master of a Redis Cluster. Resolves once the server answers. Throws
 * OutOfReachError if it does not in time, and an Error that says what to do if it refuses this client or may evict
 * keys.
 */
export async function openRedisReadModels(options: RedisReadModelsOptions): Promise<ReadModelStore> {
  const { url, tls, names, logger, openTimeoutMs = 30_000 } = options
  const keys = redisKeys(options)
  const connections = await openConnections({ url, tls }, keys.active, logger, openTimeoutMs)
  const { commands, subscriber } = connections
  const listeners = new Listeners({ connected: false })
  const stopHearing = hearProgress(subscriber, keys.progress, listeners)
  const read = groupReader(keys, (used, args) => run(commands, 'read', used, args))
  return {
    reads: redisReads(read, names),
    projection: redisProjection(commands, keys, names),
    generations: redisGenerations(connections.to, options, listeners),
    inspection: redisInspection(commands, keys),
    get warnings() {
      return connections.warnings()
    },
    async close() {
      stopHearing()
      await connections.close()
    },
  }
}
