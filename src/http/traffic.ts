import { type IncomingMessage, ServerResponse } from 'node:http'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { Distribution } from '../lib/distribution.ts'
import type { ErrorCode } from '../lib/errors.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Whether answers last for as long as their clients stay, so that their duration says nothing. */
    isEndless?: boolean
  }
}

/** The requests of one route and method. */
export interface RouteTally {
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
  tally: RouteTally | undefined
  takenUpAt = 0
}

const unknownRoute = 'unknown'
const secondsBounds = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]
/** What nginx says for a client that left before its answer. */
const clientLeft = 499

/** Counts requests in plain numbers, which are read when the metrics are asked for (decision 0036). */
export class Traffic {
  inFlight = 0
  readonly refusals = new Map<ErrorCode, number>()
  readonly #tallies = new Map<string, Map<string, RouteTally>>()

  get tallies(): readonly RouteTally[] {
    return [...this.#tallies.values()].flatMap((byMethod) => [...byMethod.values()])
  }

  /** Counts the request of a response that has its socket. */
  takeUp(response: ServerResponse): void {
    const counted = response as CountedResponse<IncomingMessage>
    counted.traffic = this
    counted.takenUpAt = performance.now()
    counted.on('close', settle)
    this.inFlight++
  }

  /** Without this call a request counts towards the unknown route. */
  assign({ method, routeOptions: { url, config } }: FastifyRequest, { raw }: FastifyReply): void {
    const counted = raw as CountedResponse<IncomingMessage>
    counted.tally = this.#tallyOf(url ?? unknownRoute, method, config.isEndless)
  }

  refuse(code: ErrorCode): void {
    this.refusals.set(code, (this.refusals.get(code) ?? 0) + 1)
  }

  settle({ tally, takenUpAt, req, headersSent, statusCode }: CountedResponse<IncomingMessage>): void {
    const { byStatus, seconds } = tally ?? this.#tallyOf(unknownRoute, req.method ?? '')
    const status = headersSent ? statusCode : clientLeft
    byStatus.set(status, (byStatus.get(status) ?? 0) + 1)
    seconds?.add((performance.now() - takenUpAt) / 1000)
    this.inFlight--
  }

  #tallyOf(route: string, method: string, isEndless = false): RouteTally {
    const known = this.#tallies.get(route)?.get(method)
    if (known !== undefined) return known
    const seconds = isEndless ? undefined : new Distribution(secondsBounds)
    const tally = { route, method, byStatus: new Map<number, number>(), seconds }
    const byMethod = this.#tallies.get(route) ?? new Map<string, RouteTally>()
    this.#tallies.set(route, byMethod.set(method, tally))
    return tally
  }
}

/** Counts an error answer. Without effect on a response that is not counted. */
export function countRefusal({ raw }: FastifyReply, code: ErrorCode): void {
  const counted = raw as CountedResponse<IncomingMessage>
  counted.traffic?.refuse(code)
}

/** One function for all responses: a closure for each would cost more than the counting. */
function settle(this: CountedResponse<IncomingMessage>): void {
  this.traffic?.settle(this)
}
