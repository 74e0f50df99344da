import { setTimeout as delay } from 'node:timers/promises'
import { serverSentEvents } from '../e2e/server-sent-events.ts'
import type { ClientOptions } from './clients.ts'
import type { Exchange } from './history.ts'
import type { Supervised } from './system/supervised.ts'

const pauseMs = 500
/** How long one stays with an answer that has no end. */
const stayMs = { least: 300, most: 8000 }

/** Clients that follow the events of all pets, on one instance after the other, and mostly go on from where they were. */
export class Followers {
  readonly #options: ClientOptions
  readonly #done: Promise<unknown>
  readonly #stopping = new AbortController()
  /** Raised to have every follower begin anew. */
  #era = 0

  constructor(options: ClientOptions, count: number) {
    this.#options = options
    this.#done = Promise.all(Array.from({ length: count }, () => this.#live()))
    this.#done.catch(() => {}) // told by `stop`
  }

  beginAnew(): void {
    this.#era++
  }

  async stop(): Promise<void> {
    this.#stopping.abort()
    await this.#done
  }

  async #live(): Promise<void> {
    const { instances, random } = this.#options
    let [era, after]: [number, string | undefined] = [this.#era, undefined]
    while (!this.#stopping.signal.aborted) {
      const isAnew = era !== this.#era || random.chance(0.1)
      era = this.#era
      after = await this.#follow(random.pick(instances), isAnew ? undefined : after)
      await delay(random.below(pauseMs))
    }
  }

  /** Resolves to the id from which to go on. */
  async #follow(api: Supervised, from: string | undefined): Promise<string | undefined> {
    const { apiKey, random, recorder } = this.#options
    const enough = AbortSignal.timeout(stayMs.least + random.below(stayMs.most))
    const query = from === undefined && random.chance(0.3) ? '?from=start' : ''
    const [{ instance }, era] = [api, this.#era]
    let [after, sentMs] = [from, performance.now()]
    const keep = (answer: Answer) => {
      const answeredMs = performance.now()
      const by = api.instance === instance ? instance : undefined
      const step = { sentMs, answeredMs, instance: by, ...(after !== undefined && { token: after }), ...answer }
      if (era === this.#era) recorder.followed(step)
      sentMs = answeredMs
    }
    try {
      const response = await fetch(new URL(`/v1/events${query}`, api.url), {
        signal: AbortSignal.any([enough, this.#stopping.signal]),
        headers: { authorization: `Bearer ${apiKey}`, ...(from !== undefined && { 'last-event-id': from }) },
      })
      const { ok, status, body } = response
      if (!ok || body === null) keep({ status, code: ((await response.json()) as { code: string }).code })
      else {
        for await (const { events, id } of stepsOf(body)) {
          keep({ status, body: events, tokenAfter: id })
          after = id
        }
      }
    } catch {
      // it left, or the connection was lost
    }
    return after
  }
}

type Answer = Pick<Exchange, 'status' | 'code' | 'body' | 'tokenAfter'>

/** The events up to each id. */
async function* stepsOf(body: ReadableStream<Uint8Array>): AsyncGenerator<{ events: unknown[]; id: string }> {
  let events: unknown[] = []
  for await (const { id, data } of serverSentEvents(body)) {
    if (data !== undefined) events.push(JSON.parse(data))
    if (id === undefined) continue
    yield { events, id }
    events = []
  }
}
