import type { Effect } from '../../examples/journal/rule.ts'
import { partitionOf } from '../../src/engine/log/kafka/default-partitioner.ts'
import { Fold } from './fold.ts'
import { eventIn, type History, type LogRecord, numberOf, shownIn } from './history.ts'

/**
 * `events`: of each pet the list of its events that took effect. `held`: of each pet whether an order is open. `parked`: of each pet whether events of it are parked,
 * as the status, since the first one was.
 */
export type Collection = 'pets' | 'orders' | 'events' | 'held' | 'parked'

/** What a document is from a prefix on. The prefix n of a partition is its records with offsets below n. */
export interface State {
  readonly since: number
  readonly status: string
  readonly text: string
  readonly record: LogRecord
  /** The pet was there, and is removed: nobody is shown it. */
  readonly isRemoved: boolean
}

export interface DocumentHistory {
  readonly id: number
  readonly partition: number
  /** Empty if the log never has the document. */
  readonly states: readonly State[]
}

/** A record that took effect. */
export interface Effective extends Pick<Effect, 'type' | 'pet' | 'order'> {
  readonly record: LogRecord
  /** The first prefix with its effect. It is beyond the record if that waited for a discard. */
  readonly since: number
  /** The number of the exchange that wrote it, if it was one of this run. */
  readonly request: number | undefined
}

type Growing = DocumentHistory & { readonly states: State[] }

/** Every state that the log gives to the documents of each partition, and since which prefix. */
export class Prefixes {
  readonly effects: Effective[] = []
  /** Records that were counted, and contradict what came before. */
  readonly contradicting: LogRecord[] = []
  readonly fold: Fold
  readonly #partitions: number
  readonly #records: LogRecord[][]
  readonly #ofRequest = new Map<number, LogRecord[]>()
  readonly #effectOfRequest = new Map<number, Effective>()
  readonly #byId = {
    pets: new Map<number, Growing>(),
    orders: new Map<number, Growing>(),
    events: new Map<number, Growing>(),
    held: new Map<number, Growing>(),
    parked: new Map<number, Growing>(),
  }
  readonly #parked = new Set<LogRecord>()
  readonly #effectsOf: Effective[][]
  readonly #events = new Map<number, readonly unknown[]>()
  readonly #sorted = new Map<Collection, DocumentHistory[][]>()
  readonly #sentMs: ReadonlyMap<number, number>
  /** For each record of a partition: the latest time at which a request of the records up to it was sent. */
  readonly #latestSent: number[][]

  constructor({ log, exchanges }: History, partitions: number) {
    this.#partitions = partitions
    this.#records = Array.from({ length: partitions }, () => [])
    this.#latestSent = Array.from({ length: partitions }, () => [])
    this.#effectsOf = Array.from({ length: partitions }, () => [])
    this.fold = new Fold(this.partitionFor)
    this.#sentMs = new Map(exchanges.map((exchange) => [exchange.number, exchange.sentMs]))
    for (const record of log) {
      this.#add(record)
      this.#take(record)
    }
    for (const collection of ['pets', 'orders'] as const) this.#sorted.set(collection, this.#sort(collection))
  }

  get records(): readonly (readonly LogRecord[])[] {
    return this.#records
  }

  /** Pets, and orders alike: an order is in the partition of its pet. */
  partitionFor = (id: number | string) => partitionOf(String(id), this.#partitions)

  document(collection: Collection, id: number): DocumentHistory {
    return this.#byId[collection].get(id) ?? { id, partition: this.partitionFor(id), states: [] }
  }

  /** Those with ids above `after` up to `last`, whenever they exist. */
  documents(collection: 'pets' | 'orders', partition: number, after: number, last: number): readonly DocumentHistory[] {
    const all = this.#sorted.get(collection)?.[partition] ?? []
    const firstAbove = (id: number) => firstIndex(all.length, (index) => (all[index]?.id ?? 0) > id)
    return all.slice(firstAbove(after), firstAbove(last))
  }

  /** The largest prefix that has no record of a request that was sent after this time. */
  largestAt(partition: number, ms: number): number {
    const latest = this.#latestSent[partition] ?? []
    const index = firstIndex(latest.length, (at) => (latest[at] ?? 0) > ms)
    return this.#records[partition]?.[index]?.offset ?? Number.POSITIVE_INFINITY
  }

  /** What took effect in a partition with the records behind the offset `after`, up to the offset `last`. */
  effectsBetween(partition: number, after: number, last: number): readonly Effective[] {
    const effects = this.#effectsOf[partition] ?? []
    const firstAbove = (offset: number) =>
      firstIndex(effects.length, (index) => (effects[index]?.since ?? 0) > offset + 1)
    return effects.slice(firstAbove(after), firstAbove(last))
  }

  /** What took effect of what the request wrote. */
  effectOf(request: number): Effective | undefined {
    return this.#effectOfRequest.get(request)
  }

  recordsOf(request: number): readonly LogRecord[] {
    return this.#ofRequest.get(request) ?? []
  }

  /** Whether a request of the history wrote it: not a stranger, nor one that is forgotten. */
  isOfHistory(record: LogRecord): boolean {
    return this.#sentMs.has(requestOf(record) ?? Number.NaN)
  }

  /** Whether it was parked, be it for some time. */
  wasParked(record: LogRecord): boolean {
    return this.#parked.has(record)
  }

  /** The records at both sides of the end of a prefix. */
  recordsAround(partition: number, n: number): readonly LogRecord[] {
    const records = this.#records[partition] ?? []
    const end = firstIndex(records.length, (index) => (records[index]?.offset ?? 0) >= n)
    return records.slice(Math.max(0, end - 3), end + 2)
  }

  #add(record: LogRecord): void {
    const sentMs = this.#sentMs.get(requestOf(record) ?? Number.NaN) ?? Number.NEGATIVE_INFINITY
    const latest = this.#latestSent[record.partition]
    const request = requestOf(record)
    this.#records[record.partition]?.push(record)
    latest?.push(Math.max(latest.at(-1) ?? Number.NEGATIVE_INFINITY, sentMs))
    if (request !== undefined) this.#ofRequest.set(request, [...this.recordsOf(request), record])
  }

  #take(record: LogRecord): void {
    for (const { record: counted, effect } of this.fold.take(record)) {
      if (effect === undefined) this.contradicting.push(counted)
      else this.#takeEffect({ ...effect, record: counted, since: record.offset + 1, request: requestOf(counted) })
    }
    const stream = String(record.key)
    const parked = this.fold.parkedIn(stream)
    if (parked.includes(record)) this.#parked.add(record)
    const isKnown = parked.length > 0 || this.#byId.parked.has(Number(stream))
    if (!isKnown) return
    const status = parked.length > 0 ? 'parked' : 'free'
    this.#change('parked', { id: Number(stream), status }, { status }, record, record.offset + 1)
  }

  #takeEffect(effective: Effective): void {
    const { pet, order, record, request, since } = effective
    this.effects.push(effective)
    if (request !== undefined) this.#effectOfRequest.set(request, effective)
    this.#effectsOf[record.partition]?.push(effective)
    this.#change('pets', pet, pet, record, since)
    if (order !== undefined) {
      const status = order.status === 'placed' || order.status === 'approved' ? 'held' : 'free'
      this.#change('orders', order, order, record, since)
      this.#change('held', { id: pet.id, status }, { status }, record, since)
    }
    const events = [...(this.#events.get(pet.id) ?? []), shownIn(record)]
    this.#events.set(pet.id, events)
    this.#change('events', { id: pet.id, status: '' }, events, record, since)
  }

  #change(
    collection: Collection,
    { id, status, isRemoved = false }: { readonly id: number; readonly status: string; readonly isRemoved?: boolean },
    document: unknown,
    record: LogRecord,
    since: number,
  ): void {
    const found = this.#byId[collection].get(id) ?? { id, partition: record.partition, states: [] }
    this.#byId[collection].set(id, found)
    const text = textOf(document)
    if (found.states.at(-1)?.text !== text) found.states.push({ since, status, text, record, isRemoved })
  }

  #sort(collection: 'pets' | 'orders'): DocumentHistory[][] {
    const sorted: DocumentHistory[][] = Array.from({ length: this.#partitions }, () => [])
    for (const document of this.#byId[collection].values()) sorted[document.partition]?.push(document)
    return sorted.map((documents) => documents.sort((one, other) => one.id - other.id))
  }
}

/** Equal for equal documents, in whatever order their members are. */
export function textOf(document: unknown): string {
  const members = Object.entries(Object(document)).sort(([one], [other]) => (one < other ? -1 : 1))
  return JSON.stringify(members, (_name, value) => (typeof value === 'bigint' ? Number(value) : value))
}

function requestOf(record: LogRecord): number | undefined {
  return numberOf(eventIn(record)?.traceparent)
}

/** The first index that passes, where all after it pass too; `length` if none does. */
function firstIndex(length: number, passes: (index: number) => boolean): number {
  let [low, high] = [0, length]
  while (low < high) {
    const middle = (low + high) >>> 1
    if (passes(middle)) high = middle
    else low = middle + 1
  }
  return low
}
