import { randomUUID } from 'node:crypto'
import { ServiceError } from '../../lib/errors/errors.ts'
import { processName } from '../../lib/operating/process-name.ts'
import type {
  EventLog,
  LogRecord,
  NewRecord,
  Offset,
  ReadRecords,
  RecordBatch,
  Subscriber,
  Subscription,
} from '../../log/event-log.ts'
import { partitionOf } from '../../log/kafka/default-partitioner.ts'

/** Small, so that a short log comes in several batches. */
const batchRecordsMax = 3
const redeliveryDelayMs = 10
/** What logs share that are opened on the same data. */
export class MemoryLogData {
  readonly logId: string = randomUUID()
  /** Records by partition, in log order. */
  readonly records: (LogRecord & { readonly leaderEpoch: number })[][]
  #leaderEpoch = 0
  /** The subscriptions of all groups, in the order of their arrival. */
  members: readonly MemorySubscription[] = []
  /** Claimed so far. */
  blocks = 0

  constructor(partitions: number) {
    this.records = Array.from({ length: partitions }, () => [])
  }

  add(partition: number, records: readonly Omit<LogRecord, 'offset'>[]): Offset {
    const stored = this.records[partition]
    if (stored === undefined) throw new RangeError(`partition ${partition} of ${this.records.length}`)
    const first = stored.length
    const leaderEpoch = this.#leaderEpoch
    for (const [index, record] of records.entries()) stored.push({ ...record, offset: first + index, leaderEpoch })
    for (const member of this.members) member.wake(partition)
    return first
  }

  /** Another leader takes over, which has the records of a partition up to `end` only. */
  loseFrom(partition: number, end: Offset): void {
    this.records[partition]?.splice(end)
    this.#leaderEpoch++
  }

  /** Partitions go round the members, so that each has as many as the others, or one more. */
  shareOut(group: string): void {
    const members = this.members.filter((member) => member.group === group)
    const partitions = [...this.records.keys()]
    for (const [turn, member] of members.entries()) {
      member.assign(partitions.filter((partition) => partition % members.length === turn))
    }
  }
}

/** The port, implemented as simply as can be, with as many partitions as a test needs and nothing that takes time. */
export class MemoryEventLog implements EventLog {
  readonly logId: string
  readonly partitions: number
  readonly replaced = new Promise<void>(() => {})
  readonly undecodable = []
  readonly warnings = []
  readonly #data: MemoryLogData
  readonly #refuses: (record: NewRecord) => boolean
  readonly #subscriptions: MemorySubscription[] = []
  #closed = false

  constructor(data: MemoryLogData, refuses: (record: NewRecord) => boolean = () => false) {
    this.logId = data.logId
    this.partitions = data.records.length
    this.#data = data
    this.#refuses = refuses
  }

  partitionFor(key: string): number {
    return partitionOf(key, this.partitions)
  }

  async append(partition: number, records: readonly NewRecord[]): Promise<Offset> {
    const data = this.#open()
    if (records.some(this.#refuses)) throw new ServiceError('event_log_unavailable', 'A record is refused.')
    const appended = records.map(({ key, value }) => ({ key: Buffer.from(key), value: Buffer.from(value) }))
    return data.add(partition, appended)
  }

  async reserveIdBlock(): Promise<number> {
    return ++this.#open().blocks
  }

  async endOffsets(): Promise<readonly Offset[]> {
    return this.#open().records.map(({ length }) => length)
  }

  async read(partition: number, from: Offset, limit: number): Promise<ReadRecords> {
    const stored = this.#open().records[partition] ?? []
    const records = stored.slice(from, from + limit).map(({ leaderEpoch: _, ...record }) => record)
    return { records, next: from + records.length }
  }

  async confirm(): Promise<void> {
    this.#open()
  }

  async ownersIn(group: string): Promise<ReadonlyMap<number, string>> {
    const members = this.#open().members.filter((member) => member.group === group)
    return new Map(members.flatMap(({ assigned }) => assigned.map((partition) => [partition, processName])))
  }

  async subscribe(group: string, subscriber: Subscriber): Promise<Subscription> {
    const subscription = new MemorySubscription(this.#open(), group, subscriber)
    this.#subscriptions.push(subscription)
    setImmediate(() => subscription.join()) // later than the caller gets its subscription
    return subscription
  }

  async close(): Promise<void> {
    this.#closed = true
    await Promise.all(this.#subscriptions.map((subscription) => subscription.close()))
  }

  #open(): MemoryLogData {
    if (this.#closed) throw new ServiceError('event_log_unavailable', 'The event log is closed.')
    return this.#data
  }
}

/** One member of a group: reads the partitions that it is assigned, each by itself. */
class MemorySubscription implements Subscription {
  readonly group: string
  readonly #data: MemoryLogData
  readonly #subscriber: Subscriber
  readonly #reading = new Map<number, Promise<void>>()
  /** The assigned partitions: a new object after each seek. */
  #positions = new Map<number, { next: Offset } | undefined>()
  #closed = false

  constructor(data: MemoryLogData, group: string, subscriber: Subscriber) {
    this.group = group
    this.#data = data
    this.#subscriber = subscriber
  }

  join(): void {
    if (this.#closed) return
    this.#data.members = [...this.#data.members, this]
    this.#data.shareOut(this.group)
  }

  assign(partitions: readonly number[]): void {
    if (this.#closed) return
    this.#positions = new Map(partitions.map((partition) => [partition, undefined]))
    this.#subscriber.assigned(partitions)
  }

  seek(partition: number, offset: Offset): void {
    if (!this.#positions.has(partition)) return
    this.#positions.set(partition, { next: offset })
    this.wake(partition)
  }

  get assigned(): number[] {
    return [...this.#positions.keys()]
  }

  /** There may be something to read. */
  wake(partition: number): void {
    if (this.#reading.has(partition) || this.#batch(partition) === undefined) return
    this.#reading.set(partition, this.#read(partition))
  }

  async close(): Promise<void> {
    this.#closed = true
    this.#positions.clear()
    await Promise.all(this.#reading.values())
    if (!this.#data.members.includes(this)) return
    this.#data.members = this.#data.members.filter((member) => member !== this)
    this.#data.shareOut(this.group)
  }

  async #read(partition: number): Promise<void> {
    for (;;) {
      await new Promise((resolve) => setImmediate(resolve)) // not inside whoever appends or seeks
      const position = this.#positions.get(partition)
      const batch = this.#batch(partition)
      if (position === undefined || batch === undefined) break
      const done = await this.#subscriber.batch(batch)
      if (this.#positions.get(partition) !== position) continue
      if (done) position.next = batch.next
      else await new Promise((resolve) => setTimeout(resolve, redeliveryDelayMs))
    }
    this.#reading.delete(partition)
  }

  #batch(partition: number): RecordBatch | undefined {
    const stored = this.#data.records[partition] ?? []
    const { next: position } = this.#positions.get(partition) ?? { next: stored.length }
    // A position past the end is one of another log: like Kafka's, reading then starts from the first record.
    const from = position > stored.length ? 0 : position
    const found = stored.slice(from, from + batchRecordsMax)
    const [first, last] = [found[0], found.at(-1)]
    if (first === undefined || last === undefined) return undefined
    const leaderEpochs = { first: first.leaderEpoch, last: last.leaderEpoch }
    const records = found.map(({ leaderEpoch: _, ...record }) => record)
    return { partition, from, records, next: from + records.length, leaderEpochs }
  }
}
