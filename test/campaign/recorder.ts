import { type Exchange, traceparentOf } from '../judge/history.ts'
import { collectionOf, isOf, type Shown } from '../judge/operations.ts'

const patienceMs = 20_000

/** A process of the service: its instance is another one each time it is started. */
export interface Api {
  readonly url: string
  readonly instance: string
  /** How to ask it, where that is not by the network. */
  readonly fetch?: (url: URL, request: RequestInit) => Promise<Response>
}

/** What is asked for, whoever asks. */
export interface Asked extends Pick<Exchange, 'operation' | 'id' | 'wanted' | 'idempotencyKey' | 'page' | 'cached'> {
  /** For a list: where the link of the page before led. */
  readonly path?: string
  /** For how long to wait, as `Prefer` says it. */
  readonly waitSeconds?: number
}

/** A request, before it is known who answers what. */
export interface Question extends Asked, Pick<Exchange, 'session' | 'token'> {
  readonly apiKey: string
}

export type Answered = Exchange & {
  /** Where a list goes on. */
  readonly link?: string | undefined
}

export const paths: Readonly<Record<Shown, string>> = {
  pets: '/v1/pets',
  orders: '/v1/store/orders',
  categories: '/v1/categories',
  books: '/v1/books',
  loans: '/v1/loans',
  reservations: '/v1/reservations',
}

/** Sends requests, and keeps each with what it was answered. */
export class Recorder {
  readonly #heard: (exchange: Exchange) => void
  /** What the time is. */
  readonly now: () => number
  #exchanges: Exchange[] = []
  #count = 0
  /** The number of the first question whose answer is kept. */
  #first = 0

  /** `heard` is told each answer. */
  constructor(heard: (exchange: Exchange) => void = () => {}, now = () => performance.now()) {
    this.#heard = heard
    this.now = now
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

  /** Undefined where nobody took the connection: then nothing was asked. */
  async ask(to: Api, question: Question): Promise<Answered | undefined> {
    const { apiKey: _, path: __, waitSeconds: ___, ...asked } = question
    const number = this.#count++
    const before = to.instance
    const sentMs = this.now()
    const came = await send(to, pathOf(question), requestOf(question, number))
    if (came === 'refused') return undefined
    const times = { sentMs, answeredMs: this.now() }
    const unknown = { number, ...asked, instance: undefined, ...times, status: undefined }
    if (came === 'lost') return this.#keep(unknown)
    const { response, text } = came
    const instance = to.instance === before ? before : undefined
    try {
      const { link, ...answer } = answerOf(response, text, question)
      return { ...this.#keep({ number, ...asked, instance, ...times, ...answer }), link }
    } catch (error) {
      if (!(error instanceof SyntaxError)) throw error
      return this.#keep({ ...unknown, malformed: `${response.status}: ${error.message.slice(0, 1000)}` })
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

/** Lost: nobody knows whether it was asked. */
async function send(
  { url, fetch: ask = fetch }: Api,
  path: string,
  request: RequestInit,
): Promise<{ response: Response; text: string } | 'refused' | 'lost'> {
  try {
    const response = await ask(new URL(path, url), request)
    return { response, text: await response.text() }
  } catch (error) {
    return (error as { cause?: { code?: string } }).cause?.code === 'ECONNREFUSED' ? 'refused' : 'lost'
  }
}

function pathOf(question: Question): string {
  const { operation, id, page, path } = question
  if (path !== undefined) return path
  const collection = paths[collectionOf(operation)]
  if (isOf(question, 'history')) return `${collection}/${id}/events?limit=100`
  if (page !== undefined) return `${collection}?${new URLSearchParams({ limit: `${page.limit}`, ...page.filters })}`
  return isOf(question, 'create', 'place') ? collection : `${collection}/${id}`
}

function methodOf(question: Question): 'GET' | 'POST' | 'PATCH' | 'DELETE' {
  if (isOf(question, 'create', 'place')) return 'POST'
  if (isOf(question, 'update')) return 'PATCH'
  return isOf(question, 'remove') ? 'DELETE' : 'GET'
}

/** What holds the document is named by its id. */
function bodyOf({ operation, id, wanted }: Question): object | undefined {
  if (operation === 'placeOrder') return { petId: id }
  return operation === 'lendBook' || operation === 'reserveBook' ? { bookId: id, ...wanted } : wanted
}

function requestOf(question: Question, number: number): RequestInit {
  const { idempotencyKey, token, cached, waitSeconds, apiKey } = question
  const method = methodOf(question)
  return {
    method,
    signal: AbortSignal.timeout(patienceMs),
    headers: {
      authorization: `Bearer ${apiKey}`,
      traceparent: traceparentOf(number),
      ...(method === 'GET' ? {} : { 'content-type': 'application/json' }),
      ...(idempotencyKey === undefined ? {} : { 'idempotency-key': `"${idempotencyKey}"` }),
      ...(token === undefined ? {} : { 'consistency-token': token }),
      ...(waitSeconds === undefined ? {} : { prefer: `wait=${waitSeconds}` }),
      ...(cached === undefined ? {} : { [method === 'GET' ? 'if-none-match' : 'if-match']: cached.tag }),
    },
    ...(method === 'GET' || method === 'DELETE' ? {} : { body: JSON.stringify(bodyOf(question)) }),
  }
}

/** Throws SyntaxError, which quotes what is not as it should be. */
function answerOf(response: Response, text: string, question: Question) {
  const { ok, status, headers } = response
  if (status === 204 && text !== '') throw new SyntaxError(`a body where there is none: ${text}`)
  const body = status === 304 ? cachedBy(question) : ok && status !== 204 ? bodyIn(text, question) : undefined
  const link = Array.isArray(body) ? linkOf(response) : undefined
  const tokenAfter = headers.get('consistency-token')
  const tag = headers.get('etag')
  const applied = headers.get('read-model-applied')
  return {
    status,
    link,
    ...(body === undefined ? (status === 204 ? {} : { code: codeIn(text, status) }) : { body }),
    ...(tag === null ? {} : { tag }),
    ...(applied === null ? {} : { isApplied: applied === '?1' }),
    ...(tokenAfter === null ? {} : { tokenAfter }),
    ...(headers.get('idempotency-replayed') === 'true' ? { isReplayed: true } : {}),
    ...(Array.isArray(body) ? { hasNext: link !== undefined } : {}),
  }
}

function cachedBy({ cached }: Question): unknown {
  if (cached === undefined) throw new SyntaxError('nothing was asked to be compared')
  return cached.body
}

/** A list of objects where a list was asked for, else an object. Throws SyntaxError. */
function bodyIn(text: string, question: Question): unknown {
  const body = parsed(text)
  const isAsAsked = isOf(question, 'list', 'history') ? Array.isArray(body) && body.every(isObject) : isObject(body)
  if (!isAsAsked) throw new SyntaxError(`not a body of ${question.operation}: ${text}`)
  return body
}

/** The code of an error with this status. Throws SyntaxError. */
export function codeIn(text: string, status: number): string {
  const error = parsed(text)
  const isError = isObject(error) && Object.keys(error).sort().join() === 'code,message,status'
  if (!isError || error.status !== status || typeof error.code !== 'string') throw new SyntaxError(`no error: ${text}`)
  return error.code
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** JSON. Throws SyntaxError, which quotes the text. */
export function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    throw new SyntaxError(`${(error as Error).message}: ${text}`)
  }
}

/** Where a list goes on. Throws SyntaxError. */
function linkOf({ url, headers }: Response): string | undefined {
  const header = headers.get('link')
  if (header === null) return undefined
  const [, path] = /^<(\/v1\/[^>]+)>; rel="next"$/.exec(header) ?? []
  if (path === undefined || !URL.canParse(path, url)) throw new SyntaxError(`not a link: ${header}`)
  return path
}
