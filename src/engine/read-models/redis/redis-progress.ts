import type { Redis } from 'ioredis'
import type { Listeners } from '../listeners.ts'
import type { Progress } from '../ports/generations.ts'

const heartbeatMs = 500

/**
 * Receives on `redis`, a connection of its own, what any process publishes, and tells the listeners. Returns a function
 * that ends that.
 */
export function hearProgress(redis: Redis, channel: string, listeners: Listeners): () => void {
  async function subscribe(): Promise<void> {
    try {
      await redis.subscribe(channel)
      if (redis.status === 'ready') listeners.connected()
    } catch {
      if (redis.status === 'ready') redis.disconnect(true)
    }
  }
  redis.on('message', (_channel, message) => {
    const heard = parseProgressMessage(message)
    if (heard !== undefined) listeners.progress(heard.generation, heard.progress)
  })
  redis.on('close', () => listeners.disconnected())
  redis.on('ready', () => void subscribe())
  if (redis.status === 'ready') void subscribe()
  // A subscriber sends nothing by itself, so it would never notice a server that has silently disappeared.
  const heartbeat = setInterval(() => redis.ping().catch(() => {}), heartbeatMs).unref()
  return () => {
    clearInterval(heartbeat)
    redis.disconnect()
    listeners.disconnected()
  }
}

/**
 * `<generation>` for one that became active; `<generation> <partition> <from> <next>` for an applied batch, followed by
 * the offsets of the records without effect, if any: ` <offset>,<offset>`.
 */
export function progressMessage(generation: string, progress?: Progress): string {
  if (progress === undefined) return generation
  const { partition, from, next, withoutEffect } = progress
  const applied = `${generation} ${partition} ${from} ${next}`
  return withoutEffect.length === 0 ? applied : `${applied} ${withoutEffect.join(',')}`
}

/** Characters. The longest message of our own, about a batch and what it released, all without effect, has about half as many. */
const messageMax = 32 * 1024

/** Undefined for anything that is not a progress message: anyone can publish. A partition is below 1000. */
export function parseProgressMessage(message: string): { generation: string; progress?: Progress } | undefined {
  if (message.length > messageMax) return undefined
  const [, generation, partition, from, next, offsets] =
    /^(\S+)(?: (\d{1,3}) (\d{1,16}) (\d{1,16})(?: (\d{1,16}(?:,\d{1,16})*))?)?$/.exec(message) ?? []
  if (generation === undefined) return undefined
  if (partition === undefined) return { generation }
  const withoutEffect = offsets?.split(',').map(Number) ?? []
  return {
    generation,
    progress: { partition: Number(partition), from: Number(from), next: Number(next), withoutEffect },
  }
}
