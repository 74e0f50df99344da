import type { IncomingMessage } from 'node:http'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { Distribution } from '../../lib/distribution.ts'
import { ServerResponse } from './node-http.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Whether answers last for as long as their clients stay, so that their duration says nothing. */
    isEndless?: boolean
  }
}

/** The requests of one route and method. */
interface RouteCounts {
  /** The pattern of the route; `unknown` where there is none. */
  readonly route: string
  readonly method: string
  readonly byStatus: Map<number, number>
  /** From when a request was taken up until its response was closed; undefined for endless answers. */
  readonly seconds: Distribution | undefined
}

/** A response, and what its request counts towards. */
export class CountedResponse<Request extends IncomingMessage> extends ServerResponse<Request> {
  traffic: Traffic | undefined
  counts: RouteCounts | undefined
  takenUpAt = 0
}

/** Beyond a limit, for others to have room, too much waits on it, or an answer is not taken. */
export type CloseReason = 'limit' | 'room' | 'waiting' | 'unread'

const unknownRoute = 'unknown'
const secondsBounds = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]
/** What nginx says for a client that left before its answer. */
const clientLeft = 499

/** Counts requests in plain numbers, which are read when the metrics are asked for (decision 0014). */
export class Traffic {
  inFlight = 0
  readonly errors = new Map<string, number>()
  /** What the requests take that wait for their turn on their connection. */
  waitingBytes = 0
  /** How many connections this process closed on its own, by the reason. */
  readonly closed = new Map<string, number>()
  readonly #counts = new Map<string, Map<string, RouteCounts>>()

  get counts(): readonly RouteCounts[] {
    return [...this.#counts.values()].flatMap((byMethod) => [...byMethod.values()])
  }

  /** Counts the request of a response that has its socket. */
  takeUp(response: ServerResponse): void {
    const counted = response as CountedResponse<IncomingMessage>
    counted.traffic = this
    counted.takenUpAt = performance.now()
    counted.on('close', countOnClose)
    this.inFlight++
  }

  /** Without this call a request counts towards the unknown route. */
  assign({ method, routeOptions: { url, config } }: FastifyRequest, { raw }: FastifyReply): void {
    const counted = raw as CountedResponse<IncomingMessage>
    counted.counts = this.#countsOf(url ?? unknownRoute, method, config.isEndless)
  }

  refuse(code: string): void {
    this.errors.set(code, (this.errors.get(code) ?? 0) + 1)
  }

  close(reason: CloseReason): void {
    this.closed.set(reason, (this.closed.get(reason) ?? 0) + 1)
  }

  settle({ counts, takenUpAt, req, headersSent, statusCode }: CountedResponse<IncomingMessage>): void {
    const { byStatus, seconds } = counts ?? this.#countsOf(unknownRoute, req.method ?? '')
    const status = headersSent ? statusCode : clientLeft
    byStatus.set(status, (byStatus.get(status) ?? 0) + 1)
    seconds?.add((performance.now() - takenUpAt) / 1000)
    this.inFlight--
  }

  #countsOf(route: string, method: string, isEndless = false): RouteCounts {
    const known = this.#counts.get(route)?.get(method)
    if (known !== undefined) return known
    const seconds = isEndless ? undefined : new Distribution(secondsBounds)
    const counts = { route, method, byStatus: new Map<number, number>(), seconds }
    const byMethod = this.#counts.get(route) ?? new Map<string, RouteCounts>()
    this.#counts.set(route, byMethod.set(method, counts))
    return counts
  }
}

/** Counts an error answer. Without effect on a response that is not counted. */
export function countError({ raw }: FastifyReply, code: string): void {
  const counted = raw as CountedResponse<IncomingMessage>
  counted.traffic?.refuse(code)
}

/** One function for all responses: a closure for each would cost more than the counting. */
function countOnClose(this: CountedResponse<IncomingMessage>): void {
  this.traffic?.settle(this)
}
