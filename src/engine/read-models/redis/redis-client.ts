import type { ConnectionOptions } from 'node:tls'
import { Redis, type RedisOptions } from 'ioredis'
import { type Changing, current } from '../../lib/changing.ts'
import { scripts } from './redis-calls.ts'
import { connectorTo } from './slot-master.ts'

/** A connection reconnects forever. While it is down, each command fails at once, or within half a second. */
const options = {
  scripts,
  enableOfflineQueue: false,
  // A command in flight when the connection breaks fails, and is not resent behind the caller's back.
  autoResendUnfulfilledCommands: false,
  maxRetriesPerRequest: 1,
  commandTimeout: 500,
  connectTimeout: 1000,
  // If a server stops answering, the client reconnects: the old connection may lead nowhere.
  socketTimeout: 2000,
  disconnectTimeout: 200,
  maxLoadingRetryTime: 500,
  retryStrategy: (attempt: number) => Math.min(50 * 2 ** (attempt - 1), 1000),
  // After a failover the address may belong to another server, or the slot to another master.
  reconnectOnError: (error: Error) => /^(READONLY|MOVED)/.test(error.message),
  stringNumbers: true, // ioredis 6 decodes RESP3 integers near 2^53 inexactly
} satisfies RedisOptions

/** Where a server is, and how to connect to it. */
export interface RedisAccess {
  readonly url: Changing<string>
  /** In addition to what the URL says. */
  readonly tls?: Changing<ConnectionOptions> | undefined
}

export interface Extra extends Pick<RedisOptions, 'autoResubscribe' | 'socketTimeout' | 'enableOfflineQueue'> {
  /** Connects to the master of this slot. */
  readonly slot?: number | undefined
}

/** Asks for the access anew whenever it connects. */
export function connect(access: RedisAccess, { slot, ...extra }: Extra): Redis {
  let unreadable: Error | undefined

  class Connection extends Redis {
    override connect(callback?: () => void): Promise<void> {
      try {
        Object.assign(this.options, currentOf(access))
        unreadable = undefined
      } catch (error) {
        unreadable = error as Error
      }
      return super.connect(callback)
    }
  }
  const redis = new Connection(current(access.url), {
    ...{ ...options, ...extra },
    Connector: connectorTo(slot, () => unreadable),
  })
  redis.on('error', () => {}) // without a listener ioredis writes to the console
  return redis
}

/** What may have changed since the last connection: the address may not. */
function currentOf({ url, tls }: RedisAccess): Pick<RedisOptions, 'username' | 'password' | 'tls'> {
  const { username, password } = new Redis(current(url), { lazyConnect: true }).options
  return { username, password, ...(tls && { tls: current(tls) }) }
}
