import { connect as connectTcp, type Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import { AbstractConnector, Redis, type RedisOptions, ReplyError } from 'ioredis'

interface Address {
  readonly host: string
  readonly port: number
}
/** A node in the answer to `CLUSTER SLOTS`, where the first one of a range is the master. Numbers may come as text. */
type Node = readonly [host: string | null, port: number | string, ...rest: unknown[]]
interface Topology {
  readonly master: Address | undefined
  readonly nodes: readonly Address[]
}

/** Besides the node of the URL: the cluster may have lost that one. */
const othersAsked = 2

/** Whether the server is a node of a cluster. */
export async function isClusterNode(redis: Redis): Promise<boolean> {
  try {
    await slotsOf(redis)
    return true
  } catch (error) {
    if (!(error instanceof ReplyError)) throw error
    return false // it says that cluster support is disabled, or that this user may not ask
  }
}

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
      try {
        const asked = [this.#seed, ...this.#others()]
        const { master, nodes } = await Promise.any(asked.map((node) => ask(node, slot, this.#options)))
        this.#nodes = nodes
        return master ?? this.#seed
      } catch {
        return this.#seed
      }
    }

    #others(): Address[] {
      const shuffled = this.#nodes.map((node) => ({ node, at: Math.random() })).sort((a, b) => a.at - b.at)
      return shuffled.slice(0, othersAsked).map(({ node }) => node)
    }
  }
}

/** What one node knows of the cluster and of who has the slot. Throws where it does not answer. */
async function ask(node: Address, slot: number, options: RedisOptions): Promise<Topology> {
  const { username, password, tls, connectTimeout, commandTimeout, socketTimeout } = options
  const redis = new Redis({
    ...{ ...node, username, password, tls, connectTimeout, commandTimeout, socketTimeout },
    ...{ lazyConnect: true, enableReadyCheck: false, retryStrategy: () => null },
  })
  redis.on('error', () => {})
  try {
    await redis.connect()
    return topologyOf(await slotsOf(redis), slot, node)
  } finally {
    redis.disconnect()
  }
}

function topologyOf(ranges: Awaited<ReturnType<typeof slotsOf>>, slot: number, asked: Address): Topology {
  // A node that does not know how it is reached leaves that open: as whoever asked reached it.
  const addressOf = ([host, port]: Node) => ({ host: host || asked.host, port: Number(port) })
  const [, , master] = ranges.find(([first, last]) => Number(first) <= slot && slot <= Number(last)) ?? []
  return { master: master && addressOf(master), nodes: ranges.flatMap(([, , ...nodes]) => nodes.map(addressOf)) }
}

function slotsOf(redis: Redis) {
  return redis.cluster('SLOTS')
}
