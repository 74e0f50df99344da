import type { ServerResponse } from 'node:http'
import { FewATurn } from '../../lib/few-a-turn.ts'
import { unaskedBytes } from '../values/messages.ts'
import type { Connection } from './connection.ts'
import type { ConnectionShares } from './connection-shares.ts'
import type { ParsedRequest } from './parsed-request.ts'

/** What Node 24 takes for a request that waits, and for each of its headers, beside the characters: measured, rounded up. */
const bytesOfRequest = 2048
const bytesOfHeader = 128
/** Clients that pipeline have far less on a connection. */
const bytesOfConnectionMax = 256 * 1024
const bytesMax = 64 * 1024 ** 2
/** So many begin in one turn of the event loop. */
const begunAtOnce = 16

type Begin = (response: ServerResponse, arrivedAtMs: number) => void

interface WaitingRequestsOptions {
  readonly shares: ConnectionShares
  readonly close: (connection: Connection, reason: string) => void
  /** Told of each change. */
  readonly counted: (bytes: number) => void
}

/**
 * Requests that came before the previous one of their connection was answered. What they take is bounded, on one connection
 * and in all; and between a few of them everything else has its turn of the event loop (decision 0061).
 */
export class WaitingRequests {
  readonly #options: WaitingRequestsOptions
  readonly #connections = new Set<Connection>()
  readonly #turns = new FewATurn(begunAtOnce)
  #bytes = 0

  constructor(options: WaitingRequestsOptions) {
    this.#options = options
  }

  /** Calls `begin` in the turn of the request, unless its connection is closed before. */
  add(connection: Connection, response: ServerResponse, begin: Begin): void {
    if (connection.socket.destroyed) return // Node goes on with what it has read
    const bytes = bytesOf(response)
    if (connection.waiting > 0 && connection.waitingBytes + bytes > bytesOfConnectionMax) {
      this.#close(connection, `more than ${bytesOfConnectionMax / 1024} KiB of requests wait on one`)
      return
    }
    const arrivedAtMs = performance.now()
    const request = response.req as ParsedRequest
    request.isWaiting = true
    this.#connections.add(connection)
    this.#count(connection, bytes)
    connection.wait(response, () =>
      this.#turns.add(connection.whose, () => {
        const canBegin = connection.takeNext()
        if (!this.#connections.has(connection)) return
        this.#count(connection, -bytes)
        if (connection.waiting === 0) this.#connections.delete(connection)
        request.isWaiting = false
        if (canBegin) begin(response, arrivedAtMs)
      }),
    )
    let isBeyond = this.#bytes > bytesMax
    while (isBeyond) isBeyond = this.#closeWithMost() && this.#bytes > bytesMax
  }

  /** What waits on a closed connection is never answered. */
  remove(connection: Connection): void {
    if (this.#connections.delete(connection)) this.#count(connection, -connection.waitingBytes)
  }

  #count(connection: Connection, bytes: number): void {
    connection.waitingBytes += bytes
    this.#bytes += bytes
    this.#options.counted(bytes)
  }

  /** Its first waiting request is no reason to close a connection. */
  #closeWithMost(): boolean {
    const { shares } = this.#options
    let [most, isOfStranger]: [Connection | undefined, boolean] = [undefined, false]
    for (const connection of this.#connections) {
      if (connection.waiting < 2) continue
      const isStranger = shares.isStranger(connection)
      const isMore = connection.waitingBytes > (most?.waitingBytes ?? 0)
      if (isStranger === isOfStranger ? isMore : isStranger) [most, isOfStranger] = [connection, isStranger]
    }
    if (most !== undefined) this.#close(most, `more than ${bytesMax / 1024 ** 2} MiB of requests wait in all`)
    return most !== undefined
  }

  #close(connection: Connection, reason: string): void {
    this.remove(connection)
    this.#options.close(connection, reason)
  }
}

/** About how much memory a request takes while it waits. */
function bytesOf({ req }: ServerResponse): number {
  const { url = '', rawHeaders } = req
  let bytes = bytesOfRequest + url.length + (rawHeaders.length / 2) * bytesOfHeader
  for (const text of rawHeaders) bytes += text.length
  return bytes + unaskedBytes(req)
}
