import { Redis } from 'ioredis'
import { until } from '../test/brokers/ready.ts'

const settleMs = 60_000

/**
 * How many bytes Redis uses more after `work` than before. Those of connections are in neither figure: `work` is to close
 * what it opens. What anybody else does with the server meanwhile is in it.
 */
export async function memoryTaken(url: string, work: () => Promise<unknown>): Promise<number> {
  const redis = new Redis(url)
  try {
    const clients = await figure(redis, 'connected_clients')
    const before = await settledMemory(redis, clients)
    await work()
    return (await settledMemory(redis, clients)) - before
  } finally {
    redis.disconnect()
  }
}

/** Once nothing is being freed any more, and no more clients are connected than these. */
async function settledMemory(redis: Redis, clients: number): Promise<number> {
  await until('Redis has freed what it is to free', settleMs, async () => {
    const pending = await figure(redis, 'lazyfree_pending_objects')
    const buffered = await figure(redis, 'aof_buffer_length')
    return pending + buffered === 0 && (await figure(redis, 'connected_clients')) <= clients
  })
  return await figure(redis, 'used_memory')
}

/** 0 where the server does not have it, as without a file to append to. */
async function figure(redis: Redis, name: string): Promise<number> {
  const found = new RegExp(`^${name}:(\\d+)`, 'm').exec(await redis.info())?.[1]
  return Number(found ?? 0)
}
