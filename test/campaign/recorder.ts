import { type Exchange, type Operation, traceparentOf } from './history.ts'
import type { Supervised } from './system/supervised.ts'

const patienceMs = 20_000

/** A request, before it is known who answers what. */
export interface Question
  extends Pick<Exchange, 'session' | 'operation' | 'id' | 'wanted' | 'idempotencyKey' | 'page' | 'token' | 'cached'> {
  readonly apiKey: string
  /** For a list: where the link of the page before led. */
  readonly path?: string
}

const methods: Readonly<Partial<Record<Operation, 'POST' | 'PATCH'>>> = {
  createPet: 'POST',
  placeOrder: 'POST',
  updateOrder: 'PATCH',
}

/** Sends requests, and keeps each with what it was answered. */
export class Recorder {
  readonly #heard: (exchange: Exchange) => void
  #exchanges: Exchange[] = []
  #count = 0
  /** The number of the first question whose answer is kept. */
  #first = 0

  /** `heard` is told each answer. */
  constructor(heard: (exchange: Exchange) => void = () => {}) {
    this.#heard = heard
  }

  /** All since the last `forget`, in the order in which they were sent. */
  get exchanges(): readonly Exchange[] {
    return this.#exchanges.toSorted((one, other) => one.number - other.number)
  }

  /** Forgets what was asked so far, whether or not it is answered. */
  forget(): void {
    this.#first = this.#count
    this.#exchanges = []
  }

  /** Undefined where nobody took the connection: then nothing was asked. `link` is where a list goes on. */
  async ask(
    to: Supervised,
    question: Question,
  ): Promise<(Exchange & { readonly link?: string | undefined }) | undefined> {
    const { apiKey: _, path: __, ...asked } = question
    const number = this.#count++
    const before = to.instance
    const sentMs = performance.now()
    try {
      const response = await fetch(new URL(pathOf(question), to.url), requestOf(question, number))
      const text = await response.text()
      const instance = to.instance === before ? before : undefined
      const exchange = {
        number,
        ...asked,
        instance,
        sentMs,
        answeredMs: performance.now(),
        ...answerOf(response, text, question),
      }
      return { ...this.#keep(exchange), link: linkOf(response) }
    } catch (error) {
      if ((error as { cause?: { code?: string } }).cause?.code === 'ECONNREFUSED') return undefined
      const answeredMs = performance.now()
      return this.#keep({ number, ...asked, instance: undefined, sentMs, answeredMs, status: undefined })
    }
  }

  /** Keeps a step of a feed. */
  followed(step: Omit<Exchange, 'number' | 'session' | 'operation'>): void {
    this.#exchanges.push({ ...step, number: this.#count++, session: undefined, operation: 'followEvents' })
  }

  #keep(exchange: Exchange): Exchange {
    if (exchange.number >= this.#first) this.#exchanges.push(exchange)
    this.#heard(exchange)
    return exchange
  }
}

function pathOf({ operation, id, page, path }: Question): string {
  if (path !== undefined) return path
  if (operation === 'listEvents') return `/v1/pets/${id}/events?limit=100`
  const collection = operation.endsWith('Pet') || operation === 'listPets' ? '/v1/pets' : '/v1/store/orders'
  if (page !== undefined) {
    return `${collection}?limit=${page.limit}${page.status === undefined ? '' : `&status=${page.status}`}`
  }
  return operation === 'createPet' || operation === 'placeOrder' ? collection : `${collection}/${id}`
}

function requestOf(question: Question, number: number): RequestInit {
  const { operation, id, wanted, idempotencyKey, token, cached, apiKey } = question
  const method = methods[operation] ?? 'GET'
  const body = operation === 'placeOrder' ? { petId: id } : wanted
  return {
    method,
    signal: AbortSignal.timeout(patienceMs),
    headers: {
      authorization: `Bearer ${apiKey}`,
      traceparent: traceparentOf(number),
      ...(method === 'GET' ? {} : { 'content-type': 'application/json' }),
      ...(idempotencyKey === undefined ? {} : { 'idempotency-key': `"${idempotencyKey}"` }),
      ...(token === undefined ? {} : { 'consistency-token': token }),
      ...(cached === undefined ? {} : { [method === 'GET' ? 'if-none-match' : 'if-match']: cached.tag }),
    },
    ...(method === 'GET' ? {} : { body: JSON.stringify(body) }),
  }
}

function answerOf({ ok, status, headers }: Response, text: string, { cached }: Question) {
  const content = status === 304 ? cached?.body : JSON.parse(text)
  const tokenAfter = headers.get('consistency-token')
  const tag = headers.get('etag')
  const applied = headers.get('read-model-applied')
  return {
    status,
    ...(ok || status === 304 ? { body: content } : { code: content.code }),
    ...(tag === null ? {} : { tag }),
    ...(applied === null ? {} : { isApplied: applied === '?1' }),
    ...(tokenAfter === null ? {} : { tokenAfter }),
    ...(headers.get('idempotency-replayed') === 'true' ? { isReplayed: true } : {}),
    ...(Array.isArray(content) ? { hasNext: headers.get('link') !== null } : {}),
  }
}

function linkOf({ headers }: Response): string | undefined {
  return /^<(.+)>; rel="next"$/.exec(headers.get('link') ?? '')?.[1]
}
