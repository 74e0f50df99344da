import { setTimeout as delay } from 'node:timers/promises'
import createClient, { type Client } from 'openapi-fetch'
import { type components, type paths, retryable } from './api.ts'

export type Petstore = Client<paths>
export type Pet = components['schemas']['Pet']
/** A later release may have codes that this client does not know. */
interface ErrorBody {
  readonly code: string
  readonly message: string
  readonly status: number
}

export interface PetstoreOptions {
  readonly url: string
  readonly apiKey: string
  readonly fetch?: (request: Request) => Promise<Response>
}

/** A client in which every int64 is a bigint, so that no digit is lost on the way. */
export function openPetstore({ url, apiKey, fetch = globalThis.fetch }: PetstoreOptions): Petstore {
  return createClient<paths>({
    baseUrl: new URL('/v1', url).href,
    headers: { Authorization: `Bearer ${apiKey}` },
    fetch: async (request) => exactResponse(await fetch(request)),
    bodySerializer: (body) => JSON.stringify(body, (_name, value) => writeInt64(value)),
  })
}

/** An error answer. Programs look at `code` (docs/errors.md); the message is for people. */
export class PetstoreError extends Error {
  readonly code: string
  readonly status: number

  constructor({ code, message, status }: ErrorBody) {
    super(`${code}: ${message}`)
    this.code = code
    this.status = status
  }
}

interface Answer<Data> {
  /** None with a 204. */
  readonly data?: Data
  readonly error?: unknown
  readonly response: Response
}

const triesMax = 6

/**
 * Sends a request until it is answered, and again where that can help. So it has to be one that may arrive twice: a GET, a
 * PATCH, a DELETE, or a POST with an Idempotency-Key. Throws a PetstoreError, or what fetch threw.
 */
export async function send<Data>(request: () => Promise<Answer<Data>>): Promise<{ data: Data; response: Response }> {
  for (let tries = 1; ; tries++) {
    const answer = await request().catch((lost: unknown) => ({ lost }))
    const isDone = 'response' in answer && (answer.data !== undefined || answer.response.status === 204)
    if (isDone) return { data: answer.data as Data, response: answer.response }
    const error = 'lost' in answer ? answer.lost : new PetstoreError(errorIn(answer))
    const isFinal = error instanceof PetstoreError && !retryable.includes(error.code)
    if (isFinal || tries === triesMax) throw error
    const retryAfter = 'lost' in answer ? null : answer.response.headers.get('retry-after')
    await delay(retryAfter === null ? 100 * 2 ** tries : Number(retryAfter) * 1000)
  }
}

/** What narrows a list of pets. */
interface PetQuery {
  readonly limit?: number
  readonly status?: Pet['status']
  readonly categoryId?: bigint
}

/** Every pet, or those of a status and a category, page by page along the links. */
export async function* allPets(petstore: Petstore, first: PetQuery = {}) {
  let query: typeof first | undefined = first
  while (query !== undefined) {
    const { data, response } = await send(() => petstore.GET('/pets', { params: { query: query as typeof first } }))
    yield* data
    query = nextPage(response)
  }
}

/** The query of the next page (RFC 8288): as before, with a cursor. */
function nextPage({ headers }: Response): Record<string, string> | undefined {
  const [, path] = /<([^>]*)>; rel="next"/.exec(headers.get('link') ?? '') ?? []
  return path === undefined ? undefined : Object.fromEntries(new URL(path, 'http://any').searchParams)
}

function errorIn({ error, response: { status } }: Answer<unknown>): ErrorBody {
  const isOurs = typeof error === 'object' && error !== null && 'code' in error
  if (isOurs) return error as ErrorBody
  return { code: 'no_error_body', message: `something in between answered ${status}`, status }
}

/** The names of what is an int64 in an answer. */
const int64Name = /^id$|Id$|^streamversion$|^(available|pending|sold)$/

/** The same answer, with a Content-Length: without one openapi-fetch would parse the text itself, and round integers. */
async function exactResponse(response: Response): Promise<Response> {
  const { status, statusText } = response
  const text = await response.text()
  const headers = new Headers(response.headers)
  headers.set('content-length', String(text.length))
  const read = new Response(text === '' ? null : text, { status, statusText, headers })
  return Object.assign(read, { json: async () => JSON.parse(text, readInt64) })
}

/** The third argument has the digits as they were sent. It is missing from TypeScript's lib. */
function readInt64(name: string, value: unknown, context?: { readonly source?: string }): unknown {
  return typeof value === 'number' && int64Name.test(name) ? BigInt(context?.source ?? value) : value
}

function writeInt64(value: unknown): unknown {
  const { rawJSON } = JSON as JSON & { rawJSON(text: string): unknown } // missing from TypeScript's lib
  return typeof value === 'bigint' ? rawJSON(String(value)) : value
}
