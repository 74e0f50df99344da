import slotOf from 'cluster-key-slot'
import type { Redis, RedisOptions } from 'ioredis'
import { type ConnectionLogger, connect, logStateChanges, refuseEviction, untilReady } from './redis-connection.ts'
import { defineScripts } from './redis-scripts.ts'
import { connectorTo, isClusterNode } from './slot-master.ts'

/** The connections of one store: to one server, or to the master of a cluster that has the store's slot. */
export interface RedisConnections {
  readonly commands: Redis
  readonly subscriber: Redis
  /** Where a key is that may be in another slot. */
  to(key: string): Redis
  close(): Promise<void>
}

const subscribing = { autoResubscribe: false, socketTimeout: 1000 } satisfies RedisOptions

/** To where the key is. As `openRedisReadModels`: waits for servers, and throws. */
export async function openConnections(
  url: string,
  key: string,
  logger: ConnectionLogger,
  openTimeoutMs: number,
): Promise<RedisConnections> {
  const first = connect(url, {})
  const opened = [first]
  try {
    await untilReady(first, openTimeoutMs)
    const Connector = (await isClusterNode(first)) ? connectorTo(slotOf(key)) : undefined
    const commands = Connector === undefined ? first : connect(url, { Connector })
    const subscriber = connect(url, { ...subscribing, ...(Connector && { Connector }) })
    opened.push(commands, subscriber)
    await Promise.all([untilReady(commands, openTimeoutMs), untilReady(subscriber, openTimeoutMs)])
    await refuseEviction(commands, logger)
    logStateChanges(commands, logger)
    defineScripts(commands)
    if (Connector === undefined) return onOneServer(commands, subscriber)
    first.disconnect()
    return inCluster(url, commands, subscriber, slotOf(key))
  } catch (error) {
    for (const redis of opened) redis.disconnect()
    throw error
  }
}

function onOneServer(commands: Redis, subscriber: Redis): RedisConnections {
  return { commands, subscriber, to: () => commands, close: () => end(commands) }
}

function inCluster(url: string, commands: Redis, subscriber: Redis, slot: number): RedisConnections {
  const elsewhere = new Map<number, Redis>()
  let closed = false
  // Messages reach every node, but whoever lost the master of the slot may have missed some.
  commands.on('close', () => {
    if (subscriber.status === 'ready') subscriber.disconnect(true)
  })
  function to(key: string): Redis {
    const other = slotOf(key)
    if (other === slot || closed) return commands
    const known = elsewhere.get(other)
    if (known !== undefined) return known
    // For retention, which has time: the first command waits until it is connected.
    const redis = connect(url, { Connector: connectorTo(other), enableOfflineQueue: true })
    defineScripts(redis)
    elsewhere.set(other, redis)
    return redis
  }
  async function close(): Promise<void> {
    closed = true
    await Promise.all([commands, ...elsewhere.values()].map(end))
  }
  return { commands, subscriber, to, close }
}

async function end(redis: Redis): Promise<void> {
  await redis.quit().catch(() => {}) // lets what was sent be answered, where the server still answers
  redis.disconnect()
}
