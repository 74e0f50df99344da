import type { Redis } from 'ioredis'
import type { Listeners } from '../listeners.ts'
import { parseProgressMessage } from './progress-message.ts'

const heartbeatMs = 500

/** Hears on `redis`, a connection of its own, what any process publishes, and tells the listeners. */
export class RedisProgress {
  readonly #redis: Redis
  readonly #channel: string
  readonly #listeners: Listeners
  readonly #heartbeat: NodeJS.Timeout
  #connection = 0

  constructor(redis: Redis, channel: string, listeners: Listeners) {
    this.#redis = redis
    this.#channel = channel
    this.#listeners = listeners
    redis.on('message', (_channel, message) => {
      const heard = parseProgressMessage(message)
      if (heard !== undefined) listeners.progress(heard.generation, heard.progress)
    })
    redis.on('close', () => {
      this.#connection++
      listeners.disconnected()
    })
    redis.on('ready', () => void this.#subscribe())
    // A subscriber sends nothing by itself, so it would never notice a server that is gone without a word.
    this.#heartbeat = setInterval(() => redis.ping().catch(() => {}), heartbeatMs).unref()
    if (redis.status === 'ready') void this.#subscribe()
  }

  close(): void {
    clearInterval(this.#heartbeat)
    this.#redis.disconnect()
    this.#listeners.disconnected()
  }

  async #subscribe(): Promise<void> {
    const connection = this.#connection
    try {
      await this.#redis.subscribe(this.#channel)
      if (connection === this.#connection) this.#listeners.connected()
    } catch {
      if (connection === this.#connection) this.#redis.disconnect(true)
    }
  }
}
