import { connect as connectTcp, Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import { AbstractConnector, Redis, type RedisOptions } from 'ioredis'

interface Address {
  readonly host: string
  readonly port: number
}

/** Nodes besides the one of the URL, which the cluster may have lost. */
const othersAsked = 2

/**
 * Connects to the master of one slot, which it asks the cluster for on each connect (decision 0016). If nobody can
 * tell, or without a slot, it connects to the node of the URL, which then may refuse the connection or the commands.
 * `whyNot` tells why no connection can be made for now.
 */
export function connectorTo(
  slot: number | undefined,
  whyNot: () => Error | undefined,
): NonNullable<RedisOptions['Connector']> {
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

    // If it rejects, ioredis never reconnects.
    async connect(): Promise<Socket> {
      this.connecting = true
      const reason = whyNot()
      if (reason !== undefined) return this.#broken(reason)
      const address = slot === undefined ? this.#seed : await this.#find(slot)
      if (!this.connecting) throw new Error('Connection is closed.')
      Object.assign(this.#options, address) // for messages
      this.stream = this.#open(address)
      return this.stream
    }

    #open(address: Address): Socket {
      try {
        const { tls, family } = this.#options
        const target = { ...address, ...(family !== undefined && { family }) }
        const stream = tls ? connectTls({ ...target, ...tls }) : connectTcp(target)
        stream.once('error', (error) => {
          this.firstError = error
        })
        return stream
      } catch (error) {
        return this.#broken(error as Error) // a key that does not fit its certificate
      }
    }

    /** ioredis takes it for a connection that broke, and tries again. */
    #broken(reason: Error): Socket {
      this.firstError = reason
      return new Socket().destroy()
    }

    async #find(slot: number): Promise<Address> {
      const first = Math.floor(Math.random() * this.#nodes.length)
      const others = [...this.#nodes, ...this.#nodes].slice(first, first + othersAsked)
      try {
        const answers = [this.#seed, ...others].map((node) => ask(node, slot, this.#options))
        const { master, nodes } = await Promise.any(answers)
        this.#nodes = nodes
        return master ?? this.#seed
      } catch {
        return this.#seed
      }
    }
  }
}

/** What one node knows of the cluster, and of the owner of the slot. Throws if the node does not answer. */
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
  try {
    await redis.connect()
    const ranges = await redis.cluster('SLOTS')
    const [, , master] = ranges.find(([first, last]) => Number(first) <= slot && slot <= Number(last)) ?? []
    const addressOf = (told: readonly unknown[]) => addressIn(told, node.host)
    const nodes = ranges.flatMap(([, , ...nodes]) => nodes.flatMap((each) => addressOf(each) ?? []))
    return { master: master && addressOf(master), nodes }
  } finally {
    redis.disconnect()
  }
}

/**
 * Numbers may arrive as text. A node that does not know its own address leaves the host empty: we keep the one that we
 * used. Nobody can connect to what is no address, and a connect that throws would be the last one.
 */
function addressIn([told, toldPort]: readonly unknown[], usedHost: string): Address | undefined {
  const [host, port] = [told || usedHost, Number(toldPort)]
  const isAddress = typeof host === 'string' && Number.isInteger(port) && port > 0 && port < 65_536
  return isAddress ? { host, port } : undefined
}
