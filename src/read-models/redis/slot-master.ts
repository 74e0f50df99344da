import { connect as connectTcp, type Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import { AbstractConnector, Redis, type RedisOptions } from 'ioredis'

interface Address {
  readonly host: string
  readonly port: number
}

/** Besides the node of the URL: the cluster may have lost that one. */
const othersAsked = 2

/**
 * Leads a connection to the master of one slot, which it asks the cluster for each time it connects (decision 0016).
 * Where nobody can tell, it leads to the node of the URL: that one refuses the connection, or what is asked of it.
 */
export function connectorTo(slot: number): NonNullable<RedisOptions['Connector']> {
  return class extends AbstractConnector {
    readonly #options: RedisOptions
    readonly #seed: Address
    #nodes: readonly Address[] = []

    constructor(given: unknown) {
      const options = given as RedisOptions // so ioredis declares it
      super(options.disconnectTimeout ?? 0)
      this.#options = options
      this.#seed = { host: options.host ?? 'localhost', port: options.port ?? 6379 }
    }

    // Once it rejects, ioredis gives the connection up for good.
    async connect(): Promise<Socket> {
      this.connecting = true
      const address = await this.#find()
      if (!this.connecting) throw new Error('Connection is closed.')
      Object.assign(this.#options, address) // for messages
      const { tls } = this.#options
      const stream = tls ? connectTls({ ...address, ...tls }) : connectTcp(address)
      stream.once('error', (error) => {
        this.firstError = error
      })
      this.stream = stream
      return stream
    }

    async #find(): Promise<Address> {
      const first = Math.floor(Math.random() * this.#nodes.length)
      const others = [...this.#nodes, ...this.#nodes].slice(first, first + othersAsked)
      try {
        const asked = [this.#seed, ...others].map((node) => ask(node, slot, this.#options))
        const { master, nodes } = await Promise.any(asked)
        this.#nodes = nodes
        return master ?? this.#seed
      } catch {
        return this.#seed
      }
    }
  }
}

/** What one node knows of the cluster, and of who has the slot. Throws where it does not answer. */
async function ask(
  node: Address,
  slot: number,
  { username, password, tls, connectTimeout, commandTimeout, socketTimeout }: RedisOptions,
): Promise<{ readonly master: Address | undefined; readonly nodes: readonly Address[] }> {
  const redis = new Redis({
    ...{ ...node, username, password, tls, connectTimeout, commandTimeout, socketTimeout },
    ...{ lazyConnect: true, enableReadyCheck: false, retryStrategy: () => null },
  })
  redis.on('error', () => {})
  // Numbers may come as text. A node that does not know how it is reached leaves its host open: as we reached this one.
  const addressOf = ([host, port]: readonly unknown[]) => ({ host: (host as string) || node.host, port: Number(port) })
  try {
    await redis.connect()
    const ranges = await redis.cluster('SLOTS')
    const [, , master] = ranges.find(([first, last]) => Number(first) <= slot && slot <= Number(last)) ?? []
    return { master: master && addressOf(master), nodes: ranges.flatMap(([, , ...nodes]) => nodes.map(addressOf)) }
  } finally {
    redis.disconnect()
  }
}
