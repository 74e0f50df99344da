import { Agent, type IncomingHttpHeaders, type IncomingMessage, request } from 'node:http'
import { text } from 'node:stream/consumers'
import { finished } from 'node:stream/promises'
import { Distribution } from '../../src/engine/lib/distribution.ts'
import { requestHeaders } from '../load/load.ts'
import { type Call, MixedCalls } from './mix.ts'

const answerWithinMs = 60_000
/** Less than the service keeps an idle connection: a request must not meet its end. */
const idleMs = 30_000

/** Milliseconds from 0.1 to a minute and a half, each 2 % more than the one before. */
const latencyBounds = Array.from({ length: 700 }, (_, index) => 0.1 * 1.02 ** index)

/** What was counted in an interval. */
export interface LoadCounts {
  /** Requests with a status of success. */
  answered: number
  /** Those of them that added an event. */
  events: number
  /** How many failed with each status and code, or network error. */
  readonly failures: Map<string, number>
  /** Requests that were not sent, because too many were in flight. */
  late: number
  /** Milliseconds. */
  readonly latencies: Distribution
}

/** Sends the mixed load, and counts what comes of it. */
export class MixedLoad {
  readonly #calls = new MixedCalls()
  readonly #agent: Agent
  readonly #url: URL
  readonly #inFlightMax: number
  readonly #inFlight = new Set<Promise<void>>()
  #counts = newCounts()

  constructor(url: string, inFlightMax: number) {
    this.#url = new URL(url)
    this.#inFlightMax = inFlightMax
    this.#agent = new Agent({ keepAlive: true, maxSockets: inFlightMax, timeout: idleMs })
  }

  /** What was counted since the last call. */
  take(): LoadCounts {
    const counts = this.#counts
    this.#counts = newCounts()
    return counts
  }

  /** Resolves once the request is answered or has failed. */
  async send(): Promise<void> {
    const call = this.#calls.next()
    const start = performance.now()
    try {
      const answer = await this.#exchange(call)
      const { statusCode: status = 0, headers } = answer
      if (status >= 200 && status <= 299) {
        await finished(answer.resume())
        this.#succeeded(call, headers, performance.now() - start)
      } else this.#failed(`${status} ${codeOf(await text(answer))}`.trimEnd())
    } catch (error) {
      const { code, message } = error as NodeJS.ErrnoException
      this.#failed(code ?? message)
    }
  }

  /** Sends the request at once and without waiting for its answer, unless too many are in flight. */
  sendOrSkip(): void {
    if (this.#inFlight.size >= this.#inFlightMax) {
      this.#counts.late++
      return
    }
    const sent: Promise<void> = this.send().finally(() => this.#inFlight.delete(sent))
    this.#inFlight.add(sent)
  }

  /** Resolves once nothing is in flight. */
  async settled(): Promise<void> {
    await Promise.all(this.#inFlight)
  }

  #exchange({ method, path, headers, body }: Call): Promise<IncomingMessage> {
    const { hostname, port } = this.#url
    const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>()
    const all = { ...requestHeaders, ...headers }
    const sent = request({ agent: this.#agent, hostname, port, method, path, headers: all, timeout: answerWithinMs })
    sent.once('response', resolve).on('error', reject)
    sent.once('timeout', () => sent.destroy(new Error(`no answer within ${answerWithinMs} ms`)))
    sent.end(body)
    return promise
  }

  #succeeded({ addsEvent, answered }: Call, headers: IncomingHttpHeaders, ms: number): void {
    this.#counts.answered++
    if (addsEvent) this.#counts.events++
    this.#counts.latencies.add(ms)
    answered?.(headers)
  }

  #failed(kind: string): void {
    this.#counts.failures.set(kind, (this.#counts.failures.get(kind) ?? 0) + 1)
  }
}

function newCounts(): LoadCounts {
  return { answered: 0, events: 0, failures: new Map(), late: 0, latencies: new Distribution(latencyBounds) }
}

/** The code in the body of an error; empty where there is none. */
function codeOf(body: string): string {
  return /"code":"(\w+)"/.exec(body)?.[1] ?? ''
}
