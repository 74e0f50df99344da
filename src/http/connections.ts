import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { FastifyBaseLogger } from 'fastify'

export interface ConnectionLimits {
  readonly max: number
  readonly maxPerAddress: number
  /** Proxies carry the connections of many clients: they count only towards `max`. */
  readonly isTrustedProxy: (address: string) => boolean
}

const logIntervalMs = 10_000
const connections = new WeakMap<Server, Set<Socket>>()

/**
 * Closes connections beyond the limits as soon as they are opened, which costs almost nothing. Existing connections
 * stay.
 */
export function limitConnections(server: Server, limits: ConnectionLimits, logger: FastifyBaseLogger | false): void {
  const open = new Map<string, number>()
  const sockets = new Set<Socket>()
  connections.set(server, sockets)
  const tellRefused = refusalTeller(logger)
  server.maxConnections = limits.max
  server.on('drop', () => tellRefused(`there are ${limits.max} connections (MAX_CONNECTIONS)`))
  server.on('connection', (socket) => {
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
    const { remoteAddress: address } = socket
    if (address === undefined || limits.isTrustedProxy(address)) return
    const count = open.get(address) ?? 0
    if (count >= limits.maxPerAddress) {
      socket.destroy()
      tellRefused(`${address} has ${count} connections (MAX_CONNECTIONS_PER_ADDRESS)`)
      return
    }
    open.set(address, count + 1)
    socket.once('close', () => {
      const left = (open.get(address) ?? 0) - 1
      if (left > 0) open.set(address, left)
      else open.delete(address)
    })
  })
}

/** Connections on which nothing was ever sent. To Node they are not idle: it waits for their first request. */
export function closeSilentConnections(server: Server): void {
  for (const socket of connections.get(server) ?? []) if (socket.bytesRead === 0) socket.destroy()
}

/** Logs one line from time to time, however many are refused. */
function refusalTeller(logger: FastifyBaseLogger | false): (reason: string) => void {
  let refused = 0
  let loggedAtMs = Number.NEGATIVE_INFINITY
  return (reason) => {
    refused++
    if (!logger || performance.now() - loggedAtMs < logIntervalMs) return
    logger.warn({ refused }, `connections are refused: ${reason}`)
    loggedAtMs = performance.now()
    refused = 0
  }
}

type Handler = (request: IncomingMessage, response: ServerResponse) => void

/** Requests of one connection that wait for the previous one. Clients that pipeline send fewer at a time. */
const waitingMax = 100

/**
 * Handles the requests of one connection one after the other; they are answered in that order anyway. So a connection
 * has one request in flight, whatever it sends. A connection with too many waiting requests is closed.
 */
export function inTurn(handle: Handler): Handler {
  const waiting = new WeakMap<Socket, number>()
  return (request, response) => {
    const { socket } = request
    if (response.socket !== null) return handle(request, response)
    const count = waiting.get(socket) ?? 0
    if (count >= waitingMax) {
      socket.destroy()
      return
    }
    waiting.set(socket, count + 1)
    // Node assigns the socket to a response once the previous response has been written.
    response.once('socket', () => {
      waiting.set(socket, (waiting.get(socket) ?? 1) - 1)
      handle(request, response)
    })
  }
}
