import { partitionOf } from '../../src/engine/log/kafka/default-partitioner.ts'
import { Fold } from './fold.ts'
import { eventIn, type History, type LogRecord, numberOf, shownIn } from './history.ts'
import { keyOf, type Shown } from './operations.ts'
import type { Effect, JudgedService, ShownDocument } from './service.ts'
import { services } from './services.ts'
import { membersOf, textOf } from './values.ts'

/**
 * `events`: the list of the events of a stream that took effect. `parked`: whether events of a stream are parked, as the
 * status, since the first one was.
 */
type OfStream = 'events' | 'parked'
/** `held`: of each pet whether an order is open. `lines`: of each book whether more members can wait for it. */
type Collection = ShownDocument['collection'] | OfStream

/** What a document is from a prefix on. The prefix n of a partition is its records with offsets below n. */
export interface State {
  readonly since: number
  readonly status: string
  readonly members: Readonly<Record<string, unknown>>
  readonly text: string
  readonly record: LogRecord
  /** It was there, and is removed: nobody is shown it. */
  readonly isRemoved: boolean
}

export interface DocumentHistory {
  /** In decimal, with its collection before it where streams have that. */
  readonly key: string
  readonly partition: number
  /** Empty if the log never has the document. */
  readonly states: readonly State[]
}

/** A record that took effect. */
export type Effective = Effect & {
  readonly record: LogRecord
  /** The first prefix with its effect. It is beyond the record if that waited for a discard. */
  readonly since: number
  /** The number of the exchange that wrote it, if it was one of this run. */
  readonly request: number | undefined
  readonly drawn: ReturnType<JudgedService['drawnIn']>
}

/** That of a document that clients can ask for. */
export type Identified = DocumentHistory & { readonly id: number }
type Growing = DocumentHistory & { readonly states: State[] }

/** Every state that the log gives to the documents of each partition, and since which prefix. */
export class Prefixes {
  readonly effects: Effective[] = []
  /** Records that were counted, and contradict what came before. */
  readonly contradicting: LogRecord[] = []
  readonly fold: Fold
  readonly service: JudgedService
  readonly #partitions: number
  readonly #records: LogRecord[][]
  readonly #ofRequest = new Map<number, LogRecord[]>()
  readonly #effectOfRequest = new Map<number, Effective>()
  readonly #byKey = new Map<Collection, Map<string, Growing>>()
  readonly #parked = new Set<LogRecord>()
  readonly #effectsOf: Effective[][]
  readonly #events = new Map<string, readonly unknown[]>()
  readonly #sorted = new Map<Shown, Identified[][]>()
  readonly #sentMs: ReadonlyMap<number, number>
  /** For each record of a partition: the latest time at which a request of the records up to it was sent. */
  readonly #latestSent: number[][]

  constructor({ log, exchanges, service = 'petstore' }: History, partitions: number) {
    this.service = services[service]
    this.#partitions = partitions
    this.#records = Array.from({ length: partitions }, () => [])
    this.#latestSent = Array.from({ length: partitions }, () => [])
    this.#effectsOf = Array.from({ length: partitions }, () => [])
    this.fold = new Fold(this.service.newRule(this.partitionFor))
    this.#sentMs = new Map(exchanges.map((exchange) => [exchange.number, exchange.sentMs]))
    for (const record of log) {
      this.#add(record)
      this.#take(record)
    }
    for (const collection of this.service.collections) this.#sorted.set(collection, this.#sort(collection))
  }

  get records(): readonly (readonly LogRecord[])[] {
    return this.#records
  }

  /** The partition of a document, by its key: an order is in the partition of its pet, which is that of its own id too. */
  partitionFor = (key: string) => partitionOf(key, this.#partitions)

  document(collection: ShownDocument['collection'], id: number): DocumentHistory {
    return this.#find(collection, keyOf(collection, id))
  }

  ofStream(collection: OfStream, stream: string): DocumentHistory {
    return this.#find(collection, stream)
  }

  /** Those with ids above `after` up to `last`, whenever they exist. */
  documents(collection: Shown, partition: number, after: number, last: number): readonly Identified[] {
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
      else {
        const [request, drawn] = [requestOf(counted), this.service.drawnIn(counted)]
        this.#takeEffect({ ...effect, record: counted, since: record.offset + 1, request, drawn })
      }
    }
    const stream = String(record.key)
    const parked = this.fold.parkedIn(stream)
    if (parked.includes(record)) this.#parked.add(record)
    const isKnown = parked.length > 0 || this.#of('parked').has(stream)
    if (!isKnown) return
    const status = parked.length > 0 ? 'parked' : 'free'
    this.#change('parked', stream, { status }, record, record.offset + 1)
  }

  #takeEffect(effective: Effective): void {
    const { record, request, since } = effective
    const stream = String(record.key)
    this.effects.push(effective)
    if (request !== undefined) this.#effectOfRequest.set(request, effective)
    this.#effectsOf[record.partition]?.push(effective)
    for (const { collection, document } of effective.shown)
      this.#change(collection, keyOf(collection, document.id), document, record, since)
    const events = [...(this.#events.get(stream) ?? []), ...shownIn(record)]
    this.#events.set(stream, events)
    this.#change('events', stream, events, record, since)
  }

  #change(collection: Collection, key: string, document: object, record: LogRecord, since: number): void {
    const found = this.#of(collection).get(key) ?? { key, partition: record.partition, states: [] }
    this.#of(collection).set(key, found)
    const text = textOf(document)
    if (found.states.at(-1)?.text === text) return
    const members = membersOf(document)
    const [status, isRemoved] = [String(members.status ?? ''), members.isRemoved === true]
    found.states.push({ since, status, members, text, record, isRemoved })
  }

  #find(collection: Collection, key: string): DocumentHistory {
    return this.#of(collection).get(key) ?? { key, partition: this.partitionFor(key), states: [] }
  }

  #of(collection: Collection): Map<string, Growing> {
    const found = this.#byKey.get(collection) ?? new Map<string, Growing>()
    this.#byKey.set(collection, found)
    return found
  }

  #sort(collection: Shown): Identified[][] {
    const sorted: Identified[][] = Array.from({ length: this.#partitions }, () => [])
    for (const document of this.#of(collection).values()) {
      const id = Number(document.key.slice(document.key.indexOf('/') + 1))
      sorted[document.partition]?.push({ ...document, id })
    }
    return sorted.map((documents) => documents.sort((one, other) => one.id - other.id))
  }
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
