import { type TokenScope, writeToken } from '../../../src/engine/http/values/tokens.ts'
import type { Position } from '../../../src/engine/log/event-log.ts'
import { orderStatuses } from '../../../src/store/order.ts'
import { petStatuses } from '../../../src/store/pet.ts'
import { type Asked, Recorder } from '../../campaign/recorder.ts'
import { type Exchange, isSuccess, type Operation, positionsOf } from '../history.ts'
import type { ApiProcess } from './process.ts'
import type { AskedFor, ReadOptions, WaitOptions, WriteOptions } from './steps.ts'

/** Send requests without waiting for one another, and record what they are answered. */
export class Clients {
  /** The ids of those that clients know of. */
  readonly pets: number[] = []
  readonly orders: number[] = []
  readonly #log: TokenScope
  readonly #apis: readonly ApiProcess[]
  /** Where the writes are that clients know of. */
  readonly #known: Position[] = []
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
    void this.#ask(api, asked, options, options.withToken ? this.#known : []).then((answer) => {
      if (readBack === undefined || answer === undefined || !isSuccess(answer)) return
      const operation = asked.operation.endsWith('Pet') ? 'listPets' : 'listOrders'
      const positions = readBack.withToken ? positionsIn(answer.tokenAfter) : []
      void this.#ask(readBack.api, { operation, page: pageOf(undefined) }, options, positions)
    })
  }

  read(api: number, { operation, status, choice, ...options }: ReadOptions): void {
    const isList = operation === 'listPets' || operation === 'listOrders'
    const id = idOf(operation === 'getPet' ? this.pets : this.orders, choice)
    const asked = isList ? { operation, page: pageOf(status) } : { operation, id }
    void this.#ask(api, asked, options, options.withToken ? this.#known : [])
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
    if (what.kind === 'update') {
      return { operation: 'updateOrder', id: idOf(this.orders, what.order), wanted: { status: what.status } }
    }
    if (what.kind === 'change') {
      const wanted = what.isRenamed ? { name: `renamed ${this.#turn}` } : { categoryId: 8 }
      return { operation: 'updatePet', id: idOf(this.pets, what.pet), wanted }
    }
    if (what.kind === 'remove') return { operation: 'removePet', id: idOf(this.pets, what.pet) }
    const { key } = what
    const keyed = key === undefined ? {} : { idempotencyKey: key }
    if (what.kind === 'order') return { operation: 'placeOrder', id: idOf(this.pets, what.pet), ...keyed }
    const status = what.pet === 'Mia' ? { status: 'sold' } : {}
    return {
      operation: 'createPet',
      wanted: { name: `${what.pet} ${key ?? this.#turn}`, categoryId: 7, ...status },
      ...keyed,
    }
  }

  #learn(exchange: Exchange): void {
    const { operation, body, tokenAfter } = exchange
    if (!isSuccess(exchange) || /^(get|list)/.test(operation)) return
    const known = operation.endsWith('Pet') ? this.pets : this.orders
    const { id } = (body ?? exchange) as { readonly id: number }
    if (!known.includes(id)) known.push(id)
    this.#known.push(...positionsIn(tokenAfter))
  }
}

const lists = {
  listPets: [undefined, ...petStatuses],
  listOrders: [undefined, ...orderStatuses],
}

function pageOf(status: string | undefined): { after: number; limit: number; status?: string } {
  return { after: 0, limit: 1000, ...(status !== undefined && { status }) }
}

function positionsIn(token: string | undefined): Position[] {
  return [...positionsOf(token)].map(([partition, offset]) => ({ partition, offset }))
}

/** One of these, or now and then one that nobody was told of. */
function idOf(known: readonly number[], choice: number): number {
  return known[choice % (known.length + 1)] ?? 1
}
