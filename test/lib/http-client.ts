import { type Block, serverSentEvents } from '../e2e/server-sent-events.ts'

export const apiKey = 'the-key-of-all-the-tests'

export type Headers = Readonly<Record<string, string>>
export type RequestOptions = Omit<RequestInit, 'headers'> & { readonly headers?: Headers }

export interface Answer {
  readonly status: number
  readonly headers: Response['headers']
  readonly text: string
  /** What the text says, where it is JSON. */
  readonly body: unknown
  readonly ms: number
}

/** A client of the HTTP interface of any service, as anybody would write one. */
export class HttpClient {
  readonly url: string
  readonly #usual: Headers

  constructor({ url }: { readonly url: string }, key: string = apiKey) {
    this.url = url
    this.#usual = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
  }

  async request(path: string, options: RequestOptions = {}): Promise<Answer> {
    const start = performance.now()
    const response = await this.#fetch(path, options)
    const text = await response.text()
    const ms = performance.now() - start
    const { status, headers } = response
    const isJson = text !== '' && headers.get('content-type')?.startsWith('application/json') === true
    return { status, headers, text, body: isJson ? JSON.parse(text) : undefined, ms }
  }

  send(method: string, path: string, body: unknown, headers: Headers = {}): Promise<Answer> {
    return this.request(path, { method, body: JSON.stringify(body), headers })
  }

  /** The pages from this one on, along the links. Throws where one is not answered 200. */
  async *pages<T>(first: string): AsyncGenerator<{ readonly path: string; readonly documents: readonly T[] }> {
    let path: string | undefined = first
    while (path !== undefined) {
      const { status, headers, body, text }: Answer = await this.request(path)
      if (status !== 200) throw new Error(`GET ${path}: ${status} ${text}`)
      yield { path, documents: body as T[] }
      path = /^<(.+)>; rel="next"$/.exec(headers.get('link') ?? '')?.[1]
    }
  }

  /** What an event stream sends from now on: who asks for no more leaves it. Throws where it is not answered 200. */
  async follow(path: string, options: RequestOptions = {}): Promise<AsyncGenerator<Block>> {
    const response = await this.#fetch(path, options)
    if (response.status !== 200) throw new Error(`GET ${path}: ${response.status} ${await response.text()}`)
    return serverSentEvents(response.body as ReadableStream<Uint8Array>)
  }

  /** The first events that the feed tells of, and the last id that came by then. */
  async told(count: number, query = '?from=start', headers: Headers = {}) {
    const events: ToldEvent[] = []
    let lastId = ''
    for await (const { data, id } of await this.follow(`/v1/events${query}`, { headers })) {
      lastId = id ?? lastId
      if (data !== undefined) events.push(JSON.parse(data))
      if (events.length === count) break
    }
    return { events, lastId }
  }

  #fetch(path: string, { headers, ...options }: RequestOptions): Promise<Response> {
    return fetch(new URL(path, this.url), { headers: { ...this.#usual, ...headers }, ...options })
  }
}

export interface ToldEvent {
  readonly type: string
  readonly subject: string
}

/** What a process shows at /metrics: the sum over all labels, or the most where it is seconds. */
export async function metric(url: string, name: string): Promise<number> {
  const text = await (await fetch(`${url}/metrics`)).text()
  const values = [...text.matchAll(new RegExp(`^${name}(?:{.*})? (.+)$`, 'gm'))].map(([, value]) => Number(value))
  return name.endsWith('_seconds') ? Math.max(...values) : values.reduce((total, value) => total + value, 0)
}
