import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { FastifyBaseLogger } from 'fastify'
import { Connection, connectionOf } from './connection.ts'
import { networkOf } from './networks.ts'

export interface ConnectionLimits {
  readonly max: number
  /** Counts for one IPv4 address, or for the network of an IPv6 address. */
  readonly maxPerAddress: number
  /** Proxies carry the connections of many clients: they count only towards `max`, and none is closed to make room. */
  readonly isTrustedProxy: (address: string) => boolean
}

type Handler = (request: IncomingMessage, response: ServerResponse) => void

/** Requests of one connection that wait for the previous one. Clients that pipeline send fewer at a time. */
const waitingMax = 100
/** How long a client may take nothing of an answer that is ready, in milliseconds. */
const takeWithinMs = 20_000
const lookEveryMs = 5_000
const logEveryMs = 10_000

const servers = new WeakMap<Server, Connections>()

/** The open connections of a server: no more than the limits, and none for a client that does not take its answer. */
export class Connections {
  readonly #limits: ConnectionLimits
  readonly #open = new Set<Connection>()
  /** Those that may be closed to make room: the one whose last request, or opening, is longest ago comes first. */
  readonly #strangers = new Set<Connection>()
  readonly #perNetwork = new Map<string, number>()
  readonly #tellRefused: (reason: string) => void
  readonly #tellClosed: (reason: string) => void

  constructor(limits: ConnectionLimits, logger: FastifyBaseLogger | false) {
    this.#limits = limits
    this.#tellRefused = teller(logger, 'refused', 'connections are refused')
    this.#tellClosed = teller(logger, 'closed', 'idle connections without a key are closed')
  }

  /** Those of a server that is watched. */
  static of(server: Server): Connections | undefined {
    return servers.get(server)
  }

  watch(server: Server): void {
    servers.set(server, this)
    server.on('connection', (socket) => this.#accept(socket))
    const looks = setInterval(() => this.closeStuck(), lookEveryMs).unref()
    server.once('close', () => clearInterval(looks))
  }

  /**
   * Handles the requests of one connection one after the other; they are answered in that order anyway. So a connection
   * has one request in flight, whatever it sends. A connection with too many waiting requests is closed.
   */
  inTurn(handle: Handler): Handler {
    const begin = (connection: Connection, request: IncomingMessage, response: ServerResponse) => {
      connection.begin(response)
      if (!connection.hasKey && this.#strangers.delete(connection)) this.#strangers.add(connection)
      handle(request, response)
    }
    return (request, response) => {
      const connection = connectionOf(request.socket)
      if (connection === undefined) request.socket.destroy()
      else if (response.socket !== null) begin(connection, request, response)
      else if (connection.waiting >= waitingMax) request.socket.destroy()
      else connection.wait(response, () => begin(connection, request, response))
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
      if (connection.stuckForMs() >= takeWithinMs) connection.socket.destroy()
    }
  }

  /** One beyond the limits is closed as soon as it is opened, which costs almost nothing. */
  #accept(socket: Socket): void {
    const { remoteAddress: address = '' } = socket
    const network = this.#limits.isTrustedProxy(address) ? undefined : networkOf(address)
    const reason = this.#reasonToRefuse(network)
    if (reason === undefined) {
      this.#add(socket, network)
    } else {
      socket.destroy()
      this.#tellRefused(reason)
    }
  }

  #reasonToRefuse(network: string | undefined): string | undefined {
    const { max, maxPerAddress } = this.#limits
    const count = network === undefined ? 0 : (this.#perNetwork.get(network) ?? 0)
    if (count >= maxPerAddress) return `${network} has ${count} connections (MAX_CONNECTIONS_PER_ADDRESS)`
    const isFull = this.#open.size >= max
    return isFull && !this.#closeLongestIdle() ? `there are ${max} connections (MAX_CONNECTIONS)` : undefined
  }

  #closeLongestIdle(): boolean {
    for (const connection of this.#strangers) {
      if (connection.hasKey) this.#strangers.delete(connection)
      else if (connection.isIdle) {
        this.#remove(connection)
        connection.socket.destroy()
        this.#tellClosed(`there are ${this.#limits.max} connections (MAX_CONNECTIONS)`)
        return true
      }
    }
    return false
  }

  #add(socket: Socket, network: string | undefined): void {
    const connection = new Connection(socket)
    this.#open.add(connection)
    if (network !== undefined) {
      this.#strangers.add(connection)
      this.#perNetwork.set(network, (this.#perNetwork.get(network) ?? 0) + 1)
    }
    socket.once('close', () => {
      this.#remove(connection)
      if (network !== undefined) this.#uncount(network)
    })
  }

  #remove(connection: Connection): void {
    this.#open.delete(connection)
    this.#strangers.delete(connection)
  }

  #uncount(network: string): void {
    const left = (this.#perNetwork.get(network) ?? 0) - 1
    if (left > 0) this.#perNetwork.set(network, left)
    else this.#perNetwork.delete(network)
  }
}

/** Logs one line from time to time, however many connections it is about. */
function teller(logger: FastifyBaseLogger | false, member: string, what: string): (reason: string) => void {
  let count = 0
  let loggedAtMs = Number.NEGATIVE_INFINITY
  return (reason) => {
    count++
    if (!logger || performance.now() - loggedAtMs < logEveryMs) return
    logger.warn({ [member]: count }, `${what}: ${reason}`)
    loggedAtMs = performance.now()
    count = 0
  }
}
