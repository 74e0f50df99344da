import { randomUUID } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import { petStatuses } from '../../src/store/pet.ts'

const recentMax = 1000
const waitingMax = 100

/** A request of the mixed load. */
export interface Call {
  readonly method: 'GET' | 'POST' | 'PATCH'
  readonly path: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
  readonly addsEvent: boolean
  /** To be called with the headers of the answer, if it is one of success. */
  readonly answered?: (headers: IncomingHttpHeaders) => void
}

/** How many of forty requests are of a kind. */
const shares = { add: 8, addWithKey: 8, order: 2, approve: 2, find: 12, list: 3, listByStatus: 3, listAfterWrite: 2 }
type Kind = keyof typeof shares
const kinds = Object.entries(shares).flatMap(([kind, share]) => Array.from({ length: share }, () => kind as Kind))
/** Has no factor in common with forty, so that each kind is spread over them. */
const stride = 17

/** The requests of the mixed load, one after the other. What it remembers of the answers is bounded. */
export class MixedCalls {
  #turn = 0
  #added = 0
  #remembered = 0
  #listed = 0
  #found = 0
  #token: string | undefined
  /** Paths of the pets added last, in no order. */
  readonly #recent: string[] = []
  /** Ids of available pets, each to be ordered once. */
  readonly #orderable: string[] = []
  /** Paths of orders, each to be approved once. */
  readonly #placed: string[] = []

  /** Adds a pet where there is nothing yet that the request could be about. */
  next(): Call {
    const kind = kinds[(this.#turn++ * stride) % kinds.length] ?? 'add'
    return this.#call(kind) ?? this.#add()
  }

  #call(kind: Kind): Call | undefined {
    switch (kind) {
      case 'add':
        return this.#add()
      case 'addWithKey':
        return this.#add({ 'idempotency-key': `"${randomUUID()}"` })
      case 'order':
        return this.#order(this.#orderable.shift())
      case 'approve':
        return approve(this.#placed.shift())
      case 'find':
        return this.#find()
      case 'list':
        return get('/v1/pets?limit=20')
      case 'listByStatus':
        return get(`/v1/pets?limit=20&status=${inTurn(petStatuses, this.#listed++)}`)
      case 'listAfterWrite':
        return this.#token === undefined ? undefined : get('/v1/pets?limit=20', { 'consistency-token': this.#token })
    }
  }

  #add(headers: Record<string, string> = {}): Call {
    const index = this.#added++
    const status = inTurn(petStatuses, index)
    const body = JSON.stringify({ name: `Rex the ${index}th`, categoryId: index % 100, status })
    const answered = (answer: IncomingHttpHeaders) => this.#addedPet(status, answer)
    return { method: 'POST', path: '/v1/pets', headers, body, addsEvent: true, answered }
  }

  #addedPet(status: string | undefined, headers: IncomingHttpHeaders): void {
    const path = headers.location ?? ''
    this.#token = headers['consistency-token'] as string | undefined
    if (headers['read-model-applied'] === '?0') return // a GET may not find it yet
    this.#recent[this.#remembered++ % recentMax] = path
    if (status === 'available') remember(this.#orderable, path.slice(path.lastIndexOf('/') + 1))
  }

  #order(petId: string | undefined): Call | undefined {
    if (petId === undefined) return undefined
    const answered = ({ location = '' }: IncomingHttpHeaders) => remember(this.#placed, location)
    return { method: 'POST', path: '/v1/store/orders', body: `{"petId":${petId}}`, addsEvent: true, answered }
  }

  #find(): Call | undefined {
    const path = inTurn(this.#recent, this.#found++ * stride)
    return path === undefined ? undefined : get(path)
  }
}

function approve(path: string | undefined): Call | undefined {
  if (path === undefined) return undefined
  return { method: 'PATCH', path, body: '{"status":"approved"}', addsEvent: true }
}

function get(path: string, headers: Record<string, string> = {}): Call {
  return { method: 'GET', path, headers, addsEvent: false }
}

function inTurn<T>(values: readonly T[], turn: number): T | undefined {
  return values[turn % values.length]
}

/** Leaves out what comes while enough is waiting. */
function remember(waiting: string[], value: string): void {
  if (waiting.length < waitingMax) waiting.push(value)
}
