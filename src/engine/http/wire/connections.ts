import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { FastifyBaseLogger } from 'fastify'
import { FewATurn } from '../../lib/few-a-turn.ts'
import { SummedUp } from '../../lib/operating/summed-up.ts'
import { Connection, connectionOf } from './connection.ts'
import { ConnectionShares } from './connection-shares.ts'
import { networkOf } from './networks.ts'
import type { CloseReason, Traffic } from './traffic.ts'
import { WaitingRequests } from './waiting-requests.ts'

export interface ConnectionLimits {
  readonly max: number
  /** Counts for one IPv4 address, or for the network of an IPv6 address. */
  readonly maxPerAddress: number
  /** Proxies carry the connections of many clients: they count only towards `max`, and none is closed to make room. */
  readonly isTrustedProxy: (address: string) => boolean
}

interface Told {
  readonly count: number
  /** That of the last one. */
  readonly reason: string
}

type Handler = (request: IncomingMessage, response: ServerResponse) => void

/** How long a client may take nothing of an answer that is ready, in milliseconds. */
const takeWithinMs = 20_000
const lookEveryMs = 5_000
/** So many new connections are first read in a turn of the event loop: Node parses all that it reads of one at once. */
const firstReadAtOnce = 4

const servers = new WeakMap<Server, Connections>()

interface ConnectionsOptions {
  readonly limits: ConnectionLimits
  readonly isKeyValid: (keyId: string) => boolean
  readonly traffic: Traffic
  readonly logger: FastifyBaseLogger | false
}

/** The open connections of a server: no more than the limits, and none for a client that does not take its answer. */
export class Connections {
  readonly #options: ConnectionsOptions
  readonly #open = new Set<Connection>()
  readonly #perNetwork = new Map<string, number>()
  readonly #shares: ConnectionShares
  readonly #waiting: WaitingRequests
  readonly #firstReads = new FewATurn(firstReadAtOnce)
  readonly #refused: SummedUp<Told>
  readonly #closed: SummedUp<Told>

  constructor(options: ConnectionsOptions) {
    const { isKeyValid, traffic, logger } = options
    this.#options = options
    this.#shares = new ConnectionShares(isKeyValid)
    this.#waiting = new WaitingRequests({
      shares: this.#shares,
      close: (connection, reason) => this.#close(connection, 'waiting', reason),
      counted: (bytes) => {
        traffic.waitingBytes += bytes
      },
    })
    this.#refused = linesOf(logger, 'refused', 'connections are refused')
    this.#closed = linesOf(logger, 'closed', 'connections are closed')
  }

  /** Those of a server that is watched. */
  static of(server: Server): Connections | undefined {
    return servers.get(server)
  }

  watch(server: Server): void {
    servers.set(server, this)
    server.on('connection', (socket) => this.#accept(socket))
    const looks = setInterval(() => this.closeStuck(), lookEveryMs).unref()
    server.once('close', () => {
      clearInterval(looks)
      for (const lines of [this.#refused, this.#closed]) lines.close()
    })
  }

  /**
   * Handles the requests of one connection one after the other; they are answered in that order anyway. So a connection
   * has one request in flight, whatever it sends.
   */
  inTurn(handle: Handler): Handler {
    const begin = (connection: Connection, response: ServerResponse, arrivedAtMs: number) => {
      connection.begin(response, arrivedAtMs)
      this.#shares.use(connection)
      handle(response.req, response)
    }
    return ({ socket }, response) => {
      const connection = connectionOf(socket)
      if (connection === undefined) socket.destroy()
      else if (response.socket !== null) begin(connection, response, performance.now())
      else this.#waiting.add(connection, response, (...turn) => begin(connection, ...turn))
    }
  }

  /** Closes those on which nothing was ever sent. To Node they are not idle: it waits for their first request. */
  closeSilent(): void {
    for (const { socket } of this.#open) if (socket.bytesRead === 0) socket.destroy()
  }

  /** Closes those whose client does not take its answer. Node's own timer would begin anew with each byte that it sends. */
  closeStuck(): void {
    for (const connection of this.#open) {
      connection.forgetAnswered()
      if (connection.stuckForMs() >= takeWithinMs)
        this.#close(connection, 'unread', `an answer was not taken for ${takeWithinMs / 1000} s`)
    }
  }

  /** One beyond the limits is closed as soon as it is opened, which costs almost nothing. */
  #accept(socket: Socket): void {
    const { remoteAddress: address = '' } = socket
    const network = this.#options.limits.isTrustedProxy(address) ? undefined : networkOf(address)
    const reason = this.#reasonToRefuse(network)
    if (reason === undefined) {
      this.#add(new Connection(socket, network, (connection) => this.#shares.add(connection)))
    } else {
      socket.destroy()
      this.#options.traffic.close('limit')
      this.#refused.note({ count: 1, reason })
    }
  }

  #reasonToRefuse(network: string | undefined): string | undefined {
    const { max, maxPerAddress } = this.#options.limits
    const count = network === undefined ? 0 : (this.#perNetwork.get(network) ?? 0)
    if (count >= maxPerAddress) return `${network} has ${count} connections (MAX_CONNECTIONS_PER_ADDRESS)`
    if (this.#open.size < max) return undefined
    const reason = `there are ${max} connections (MAX_CONNECTIONS)`
    const idle = this.#shares.toMakeRoom(max)
    if (idle === undefined) return reason
    this.#close(idle, 'room', reason)
    return undefined
  }

  #close(connection: Connection, why: CloseReason, reason: string): void {
    this.#remove(connection)
    connection.socket.destroy()
    this.#options.traffic.close(why)
    this.#closed.note({ count: 1, reason })
  }

  #add(connection: Connection): void {
    const { socket, network } = connection
    this.#readSoon(connection)
    this.#open.add(connection)
    this.#shares.add(connection)
    if (network !== undefined) this.#perNetwork.set(network, (this.#perNetwork.get(network) ?? 0) + 1)
    socket.once('close', () => {
      this.#remove(connection)
      if (network !== undefined) this.#uncount(network)
    })
  }

  #readSoon(connection: Connection): void {
    const { socket } = connection
    socket.pause()
    this.#firstReads.add(connection.whose, () => {
      socket.resume()
      setImmediate(() => {
        connection.isUnread = false
      })
    })
  }

  #remove(connection: Connection): void {
    this.#open.delete(connection)
    this.#shares.remove(connection)
    this.#waiting.remove(connection)
  }

  #uncount(network: string): void {
    const left = (this.#perNetwork.get(network) ?? 0) - 1
    if (left > 0) this.#perNetwork.set(network, left)
    else this.#perNetwork.delete(network)
  }
}

/** Logs one line from time to time, however many connections it is about. */
function linesOf(logger: FastifyBaseLogger | false, member: string, what: string): SummedUp<Told> {
  return new SummedUp(
    (sum, { count, reason }) => ({ count: sum.count + count, reason }),
    ({ count, reason }) => {
      if (logger) logger.warn({ [member]: count }, `${what}: ${reason}`)
    },
  )
}
