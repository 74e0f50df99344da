import { apiKey } from './client.ts'
import { serverSentEvents } from './server-sent-events.ts'

export interface ToldEvent {
  readonly id: string
  readonly type: string
  readonly subject: string
  readonly streamversion: number
  readonly data: Readonly<Record<string, unknown>>
}

/** Follows the feed of an instance, and of another one from where it ended. What it was told twice it has once. */
export class FeedClient {
  readonly events: ToldEvent[] = []
  lastEventId = ''
  readonly #known = new Set<string>()
  #abort = new AbortController()
  #reading: Promise<void> = Promise.resolve()

  /** Resolves once the answer has begun. `query`: as `?petId=1`. */
  async follow({ url }: { readonly url: string }, query = '', onEvent?: (event: ToldEvent) => Promise<void>) {
    this.#abort = new AbortController()
    const headers = { authorization: `Bearer ${apiKey}`, 'last-event-id': this.lastEventId }
    const { signal } = this.#abort
    const response = await fetch(`${url}/v1/events${query}`, { headers, signal })
    if (response.status !== 200 || response.body === null)
      throw new Error(`${response.status} ${await response.text()}`)
    this.#reading = this.#read(response.body, onEvent).catch(() => {}) // the instance has gone, or this client has
  }

  /** Resolves once what was told of is dealt with. */
  async leave(): Promise<void> {
    this.#abort.abort()
    await this.#reading
  }

  get ended(): Promise<void> {
    return this.#reading
  }

  async #read(body: ReadableStream<Uint8Array>, onEvent?: (event: ToldEvent) => Promise<void>): Promise<void> {
    for await (const { id, data } of serverSentEvents(body)) {
      if (data !== undefined) await this.#take(JSON.parse(data), onEvent)
      if (id !== undefined) this.lastEventId = id
    }
  }

  async #take(event: ToldEvent, onEvent?: (event: ToldEvent) => Promise<void>): Promise<void> {
    await onEvent?.(event)
    if (!this.#known.has(event.id)) this.events.push(event)
    this.#known.add(event.id)
  }
}
