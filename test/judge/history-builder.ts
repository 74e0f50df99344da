import { writeToken } from '../../src/engine/http/values/tokens.ts'
import { partitionOf } from '../../src/engine/log/kafka/default-partitioner.ts'
import { eventRecord } from '../lib/event-record.ts'
import {
  type Category,
  type Exchange,
  type History,
  type LogRecord,
  type Order,
  type Pet,
  traceparentOf,
} from './history.ts'
import { checkAgainstLog } from './judge.ts'
import { textOf } from './values.ts'

export const partitions = 2

const time = '2026-11-20T09:30:00.000Z'

/** The ids of a partition, in ascending order. */
export function idsOf(partition: number, count: number): number[] {
  return Array.from({ length: 100 }, (_, at) => at + 1)
    .filter((id) => partitionOf(String(id), partitions) === partition)
    .slice(0, count)
}

export function pet(id: number, status: Pet['status'] = 'available'): Pet {
  return { id, name: `pet ${id}`, categoryId: 7, status }
}

export function order(id: number, petId: number, status: Order['status'] = 'placed'): Order {
  return { id, petId, status, placedAt: time, updatedAt: time }
}

export function token(...positions: readonly (readonly [number, number])[]): string {
  const named = positions.map(([partition, offset]) => ({ partition, offset }))
  return writeToken({ logId: 'log', partitions }, named)
}

/** Part of an exchange. */
export type Given = Partial<Exchange> & Pick<Exchange, 'operation'>

interface EventOptions {
  /** An event that discards another has none. */
  readonly version: number | undefined
  readonly request?: number
  readonly key?: string
  readonly eventId?: string
  /** Undefined: the service. */
  readonly source?: string
}

/** Written by somebody else. */
export const ofStranger = { source: '/stranger' }

/** A history that grows: events at the end of their partitions, exchanges of 5 ms every 10 ms. */
export class HistoryBuilder {
  readonly #log: LogRecord[] = []
  readonly #exchanges: Exchange[] = []

  get history(): History {
    return { log: this.#log, exchanges: this.#exchanges }
  }

  /** Its offset. */
  created(created: Pet, options: Partial<EventOptions> = {}): number {
    return this.#append('PetCreated', created.id, created, { version: 1, ...options })
  }

  ordered(type: 'Placed' | 'Approved' | 'Delivered' | 'Cancelled', of: Order, options: EventOptions): number {
    return this.#append(`Order${type}`, of.petId, { orderId: of.id, petId: of.petId }, options)
  }

  removed({ id }: Pet, options: EventOptions): number {
    return this.#append('PetRemoved', id, { petId: id }, options)
  }

  /** That of a category. */
  categorized(type: 'Added' | 'Changed', category: Category, options: Partial<EventOptions> = {}): number {
    const said = { version: 1, source: '/v1/categories', ...options }
    return this.#append(`Category${type}`, `categories/${category.id}`, category, said)
  }

  discarded({ id }: Pet, offset: number): number {
    return this.#append('EventDiscarded', id, { offset }, { version: undefined })
  }

  /** A record that the service would never write. */
  record(record: LogRecord): void {
    this.#log.push(record)
  }

  /** Its number. Success unless it says something else, then with a tag that is of its body. */
  answered(exchange: Given): number {
    const number = this.#exchanges.length
    const times = { sentMs: number * 10, answeredMs: number * 10 + 5 }
    const isCreate = exchange.operation === 'createPet' || exchange.operation === 'placeOrder'
    const status = exchange.code === undefined ? (isCreate ? 201 : 200) : 409
    const tag = exchange.code === undefined ? { tag: `"${textOf(exchange.body)}"` } : {}
    this.#exchanges.push({ number, session: undefined, instance: 'api-1#1', ...times, status, ...tag, ...exchange })
    return number
  }

  get nextNumber(): number {
    return this.#exchanges.length
  }

  #append(type: string, stream: number | string, data: object, options: EventOptions): number {
    const subject = String(stream)
    const partition = partitionOf(subject, partitions)
    const offset = this.#log.filter((record) => record.partition === partition).length
    const { version, request, key, eventId = `${partition}-${offset}`, source = '/v1/pets' } = options
    const traceparent = request === undefined ? undefined : traceparentOf(request)
    const said = { id: eventId, type: `petstore.${type}.v1`, source, subject, time, traceparent, idempotencykey: key }
    this.#log.push({ partition, offset, ...eventRecord({ ...said, streamversion: version, data }) })
    return offset
  }
}

export const [a = 0, b = 0, c = 0, d = 0, e = 0] = idsOf(0, 5)
export const [other = 0] = idsOf(1, 1)

/** `isWhole`: every event of the log has its request. */
export function rulesOf({ history }: HistoryBuilder, isWhole = false): string[] {
  return checkAgainstLog(history, partitions, isWhole).map(({ rule }) => rule)
}

/** Partition 0: pet a, then pet b, then order c of pet a, which is approved. Partition 1: a pet. */
export function sampleHistory(): HistoryBuilder {
  const history = new HistoryBuilder()
  history.created(pet(a))
  history.created(pet(b))
  history.ordered('Placed', order(c, a), { version: 2 })
  history.ordered('Approved', order(c, a), { version: 3 })
  history.created(pet(other))
  return history
}

/** Asks for these answers in this order, beside the log of `sampleHistory`. */
export function rulesOfAnswers(...exchanges: readonly Given[]): string[] {
  const found = sampleHistory()
  for (const exchange of exchanges) found.answered(exchange)
  return rulesOf(found)
}
