import { type Effect, type Memory, takeRecord } from '../../examples/events/rule.ts'
import { partitionOf } from '../../src/event-log/kafka/default-partitioner.ts'
import { MapMemory } from '../projector/reference-consumer.ts'
import { type History, type LogRecord, numberOf } from './history.ts'

/** `events`: of each pet the list of its events that took effect. */
export type Collection = 'pets' | 'orders' | 'events'

/** What a document is from a prefix on. The prefix n of a partition is its records with offsets below n. */
export interface State {
  readonly since: number
  readonly status: string
  readonly text: string
  readonly record: LogRecord
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
  /** The number of the exchange that wrote it, if it was one of this run. */
  readonly request: number | undefined
}

type Growing = DocumentHistory & { readonly states: State[] }

/** Every state that the log gives to the documents of each partition, and since which prefix. */
export class Prefixes {
  readonly effects: Effective[] = []
  /** Records that were counted, and contradict what came before. */
  readonly impossible: LogRecord[] = []
  readonly #partitions: number
  readonly #records: LogRecord[][]
  readonly #ofRequest = new Map<number, LogRecord[]>()
  readonly #effectOfRequest = new Map<number, Effective>()
  readonly #byId = {
    pets: new Map<number, Growing>(),
    orders: new Map<number, Growing>(),
    events: new Map<number, Growing>(),
  }
  readonly #effectsOf: Effective[][]
  readonly #events = new Map<number, readonly unknown[]>()
  readonly #sorted: Readonly<Record<Collection, DocumentHistory[][]>>
  /** For each record of a partition: the latest time at which a request of the records up to it was sent. */
  readonly #latestSent: number[][]

  constructor({ log, exchanges }: History, partitions: number) {
    this.#partitions = partitions
    this.#records = Array.from({ length: partitions }, () => [])
    this.#latestSent = Array.from({ length: partitions }, () => [])
    this.#effectsOf = Array.from({ length: partitions }, () => [])
    const sentMs = new Map(exchanges.map((exchange) => [exchange.number, exchange.sentMs]))
    const memory = new MapMemory()
    for (const record of log) {
      const request = requestOf(record)
      this.#add(record, request, sentMs.get(request ?? Number.NaN))
      this.#fold(record, request, memory)
    }
    this.#sorted = { pets: this.#sort('pets'), orders: this.#sort('orders'), events: this.#sort('events') }
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
  documents(collection: Collection, partition: number, after: number, last: number): readonly DocumentHistory[] {
    const all = this.#sorted[collection][partition] ?? []
    const firstAbove = (id: number) => firstIndex(all.length, (index) => (all[index]?.id ?? 0) > id)
    return all.slice(firstAbove(after), firstAbove(last))
  }

  /** The largest prefix that has no record of a request that was sent after this time. */
  largestAt(partition: number, ms: number): number {
    const latest = this.#latestSent[partition] ?? []
    const index = firstIndex(latest.length, (at) => (latest[at] ?? 0) > ms)
    return this.#records[partition]?.[index]?.offset ?? Number.POSITIVE_INFINITY
  }

  /** What took effect in a partition behind the offset `after`, up to the offset `last`. */
  effectsBetween(partition: number, after: number, last: number): readonly Effective[] {
    const effects = this.#effectsOf[partition] ?? []
    const firstAbove = (offset: number) =>
      firstIndex(effects.length, (index) => (effects[index]?.record.offset ?? 0) > offset)
    return effects.slice(firstAbove(after), firstAbove(last))
  }

  /** What took effect of what the request wrote. */
  effectOf(request: number): Effective | undefined {
    return this.#effectOfRequest.get(request)
  }

  recordsOf(request: number): readonly LogRecord[] {
    return this.#ofRequest.get(request) ?? []
  }

  /** The records at both sides of the end of a prefix. */
  recordsAround(partition: number, n: number): readonly LogRecord[] {
    const records = this.#records[partition] ?? []
    const end = firstIndex(records.length, (index) => (records[index]?.offset ?? 0) >= n)
    return records.slice(Math.max(0, end - 3), end + 2)
  }

  #add(record: LogRecord, request: number | undefined, sentMs = Number.NEGATIVE_INFINITY): void {
    const latest = this.#latestSent[record.partition]
    this.#records[record.partition]?.push(record)
    latest?.push(Math.max(latest.at(-1) ?? Number.NEGATIVE_INFINITY, sentMs))
    if (request !== undefined) this.#ofRequest.set(request, [...this.recordsOf(request), record])
  }

  #fold(record: LogRecord, request: number | undefined, memory: Memory): void {
    const { partition, key, value } = record
    const stream = String(key)
    const version = memory.versionOf(stream)
    const bytes = (text: string | null) => (text === null ? null : Buffer.from(text))
    const effect = takeRecord({ partition, key: bytes(key), value: bytes(value) }, memory, this.partitionFor)
    if (effect === undefined) {
      if (memory.versionOf(stream) > version) this.impossible.push(record)
      return
    }
    const effective = { ...effect, record, request }
    this.effects.push(effective)
    if (request !== undefined) this.#effectOfRequest.set(request, effective)
    this.#effectsOf[partition]?.push(effective)
    const { pet, order } = effect
    this.#change('pets', pet, pet, record)
    if (order !== undefined) this.#change('orders', order, order, record)
    const events = [...(this.#events.get(pet.id) ?? []), eventIn(record)]
    this.#events.set(pet.id, events)
    this.#change('events', { id: pet.id, status: '' }, events, record)
  }

  #change(
    collection: Collection,
    { id, status }: { readonly id: number; readonly status: string },
    document: unknown,
    record: LogRecord,
  ): void {
    const { partition, offset } = record
    const found = this.#byId[collection].get(id) ?? { id, partition, states: [] }
    this.#byId[collection].set(id, found)
    const text = textOf(document)
    if (found.states.at(-1)?.text !== text) found.states.push({ since: offset + 1, status, text, record })
  }

  #sort(collection: Collection): DocumentHistory[][] {
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

/** Throws if there is none. */
export function eventIn({ value }: LogRecord): { readonly traceparent?: unknown } {
  return JSON.parse(value ?? '')
}

function requestOf(record: LogRecord): number | undefined {
  try {
    return numberOf(eventIn(record).traceparent)
  } catch {
    return undefined // not an event
  }
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
