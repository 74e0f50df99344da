import { type TokenScope, writeToken } from '../../../src/engine/http/values/tokens.ts'
import type { Position } from '../../../src/engine/log/event-log.ts'
import { orderStatuses } from '../../../src/store/order.ts'
import { petStatuses } from '../../../src/store/pet.ts'
import { type Asked, Recorder } from '../../campaign/recorder.ts'
import { type Exchange, isSuccess, type Page, positionsOf } from '../history.ts'
import { collectionOf, isOf, isWrite, type Operation, operationOf, type Shown } from '../operations.ts'
import type { ApiProcess } from './process.ts'
import type { AskedFor, ReadOptions, WaitOptions, WriteOptions } from './steps.ts'

/** Send requests without waiting for one another, and record what they are answered. */
export class Clients {
  /** The ids of those that clients know of. */
  readonly known: Readonly<Record<'pets' | 'orders' | 'categories', number[]>> = {
    pets: [],
    orders: [],
    categories: [],
  }
  readonly #log: TokenScope
  readonly #apis: readonly ApiProcess[]
  /** Where the writes are that clients know of. */
  readonly #positions: Position[] = []
  #turn = 0
  #open = 0
  /** Its time is the order of all that clients saw: in virtual time much of it is at one moment. */
  readonly recorder = new Recorder(
    (exchange) => this.#learn(exchange),
    () => this.#turn++,
  )

  /** The processes take the places of others. */
  constructor(log: TokenScope, apis: readonly ApiProcess[]) {
    this.#log = log
    this.#apis = apis
  }

  get allAnswered(): boolean {
    return this.#open === 0
  }

  write(api: number, what: AskedFor, { readBack, ...options }: WriteOptions): void {
    const asked = this.#writeOf(what)
    void this.#ask(api, asked, options, options.withToken ? this.#positions : []).then((answer) => {
      if (readBack === undefined || answer === undefined || !isSuccess(answer)) return
      const operation = operationOf('list', collectionOf(asked.operation))
      const positions = readBack.withToken ? positionsIn(answer.tokenAfter) : []
      void this.#ask(readBack.api, { operation, page: pageOf(undefined) }, options, positions)
    })
  }

  read(api: number, { operation, status, choice, ...options }: ReadOptions): void {
    const collection = collectionOf(operation)
    const id = this.#idOf(collection, choice)
    const page = pageOf(collection === 'categories' ? undefined : status)
    const asked = isOf({ operation }, 'list') ? { operation, page } : { operation, id }
    void this.#ask(api, asked, options, options.withToken ? this.#positions : [])
  }

  /** Every list of a process, as of these offsets at least. */
  list(api: number, ends: readonly number[]): void {
    const asOf = ends.map((end, partition) => ({ partition, offset: end - 1 })).filter(({ offset }) => offset >= 0)
    for (const [operation, statuses] of Object.entries(lists)) {
      for (const status of statuses) {
        const asked = { operation: operation as Operation, page: pageOf(status) }
        void this.#ask(api, asked, { waitSeconds: 1, leavesAfterMs: undefined }, asOf)
      }
    }
  }

  #ask(
    api: number,
    asked: Asked,
    { waitSeconds, leavesAfterMs = Number.POSITIVE_INFINITY }: Omit<WaitOptions, 'withToken'>,
    positions: readonly Position[],
  ): Promise<Exchange | undefined> {
    const process = this.#apis[api]
    if (process === undefined) throw new RangeError(`process ${api} of ${this.#apis.length}`)
    const leavesAt = performance.now() + leavesAfterMs
    const { url, instance } = process
    const fetch = (to: URL, sent: RequestInit) => process.answer(to, sent, () => performance.now() >= leavesAt)
    const token = positions.length === 0 ? {} : { token: writeToken(this.#log, positions) }
    const question = { ...asked, ...token, waitSeconds, session: undefined, apiKey: '' }
    this.#open++
    return this.recorder.ask({ url, instance, fetch }, question).finally(() => this.#open--)
  }

  #writeOf(what: AskedFor): Asked {
    const name = `renamed ${this.#turn}`
    switch (what.kind) {
      case 'update':
        return { operation: 'updateOrder', id: this.#idOf('orders', what.order), wanted: { status: what.status } }
      case 'change': {
        const wanted = what.isRenamed ? { name } : { categoryId: 8 }
        return { operation: 'updatePet', id: this.#idOf('pets', what.pet), wanted }
      }
      case 'remove':
        return { operation: 'removePet', id: this.#idOf('pets', what.pet) }
      case 'change category': {
        const wanted = what.isRenamed ? { name } : { description: 'as they are' }
        return { operation: 'updateCategory', id: this.#idOf('categories', what.category), wanted }
      }
      case 'remove category':
        return { operation: 'removeCategory', id: this.#idOf('categories', what.category) }
    }
    const { key } = what
    const keyed = key === undefined ? {} : { idempotencyKey: key }
    if (what.kind === 'order') return { operation: 'placeOrder', id: this.#idOf('pets', what.pet), ...keyed }
    if (what.kind === 'add category') {
      return { operation: 'createCategory', wanted: { name: `Cats ${key ?? this.#turn}` }, ...keyed }
    }
    const status = what.pet === 'Mia' ? { status: 'sold' } : {}
    return {
      operation: 'createPet',
      wanted: { name: `${what.pet} ${key ?? this.#turn}`, categoryId: 7, ...status },
      ...keyed,
    }
  }

  #learn(exchange: Exchange): void {
    const { operation, body, tokenAfter } = exchange
    if (!isSuccess(exchange) || !isWrite(exchange)) return
    const known = this.#known(collectionOf(operation))
    const { id } = (body ?? exchange) as { readonly id: number }
    if (!known.includes(id)) known.push(id)
    this.#positions.push(...positionsIn(tokenAfter))
  }

  #known(collection: Shown): number[] {
    return (this.known as Readonly<Partial<Record<Shown, number[]>>>)[collection] ?? []
  }

  /** One of these, or now and then one that nobody was told of. */
  #idOf(collection: Shown, choice: number): number {
    const known = this.#known(collection)
    return known[choice % (known.length + 1)] ?? 1
  }
}

const lists = {
  listPets: [undefined, ...petStatuses],
  listOrders: [undefined, ...orderStatuses],
  listCategories: [undefined],
}

function pageOf(status: string | undefined): Page {
  return { after: 0, limit: 1000, ...(status !== undefined && { filters: { status } }) }
}

function positionsIn(token: string | undefined): Position[] {
  return [...positionsOf(token)].map(([partition, offset]) => ({ partition, offset }))
}
