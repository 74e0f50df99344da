import { randomUUID } from 'node:crypto'
import kafkajs, { type PartitionMetadata } from 'kafkajs'
import type { EventLog, LogRecord, NewRecord, Offset, Subscriber, Subscription } from '../../src/event-log/event-log.ts'
import { ServiceError } from '../../src/lib/errors.ts'
import { MemorySubscription } from './memory-subscription.ts'

const byDefault = kafkajs.Partitioners.DefaultPartitioner()

/** What logs share that are opened on the same data. */
export class MemoryLogData {
  readonly logId: string = randomUUID()
  /** Records by partition, in log order. */
  readonly records: LogRecord[][]
  /** The members of each group, in the order in which they came. */
  readonly groups = new Map<string, MemorySubscription[]>()
  /** Claimed so far. */
  blocks = 0

  constructor(partitions: number) {
    this.records = Array.from({ length: partitions }, () => [])
  }

  add(partition: number, records: readonly Omit<LogRecord, 'offset'>[]): Offset {
    const stored = this.records[partition]
    if (stored === undefined) throw new RangeError(`partition ${partition} of ${this.records.length}`)
    const first = stored.length
    for (const [index, record] of records.entries()) stored.push({ ...record, offset: first + index })
    for (const member of [...this.groups.values()].flat()) member.wake(partition)
    return first
  }

  /** Partitions go round the members, so that each has as many as the others, or one more. */
  shareOut(group: string): void {
    const members = this.groups.get(group) ?? []
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
  readonly #data: MemoryLogData
  readonly #refuses: (record: NewRecord) => boolean
  readonly #metadata: PartitionMetadata[]
  readonly #subscriptions = new Set<MemorySubscription>()
  #closed = false

  constructor(data: MemoryLogData, refuses: (record: NewRecord) => boolean = () => false) {
    this.logId = data.logId
    this.partitions = data.records.length
    this.#data = data
    this.#refuses = refuses
    const metadata = { partitionErrorCode: 0, leader: 0, replicas: [], isr: [] }
    this.#metadata = data.records.map((_, partitionId) => ({ partitionId, ...metadata }))
  }

  partitionFor(key: string): number {
    return byDefault({ topic: 'log', partitionMetadata: this.#metadata, message: { key, value: null } })
  }

  async append(partition: number, records: readonly NewRecord[]): Promise<Offset> {
    const data = this.#open()
    if (records.some(this.#refuses)) throw new ServiceError('event_log_unavailable', 'A record is refused.')
    return data.add(
      partition,
      records.map(({ key, value }) => ({ key: Buffer.from(key), value: Buffer.from(value) })),
    )
  }

  async reserveIdBlock(): Promise<number> {
    return ++this.#open().blocks
  }

  async endOffsets(): Promise<readonly Offset[]> {
    return this.#open().records.map(({ length }) => length)
  }

  async subscribe(group: string, subscriber: Subscriber): Promise<Subscription> {
    const data = this.#open()
    const member = new MemorySubscription(data.records, subscriber)
    this.#subscriptions.add(member)
    // Later than the caller gets its subscription
    setImmediate(() => {
      if (member.closed) return
      data.groups.set(group, [...(data.groups.get(group) ?? []), member])
      data.shareOut(group)
    })
    return {
      seek: (partition, offset) => member.seek(partition, offset),
      close: async () => {
        await member.close()
        this.#subscriptions.delete(member)
        leave(data, group, member)
      },
    }
  }

  async close(): Promise<void> {
    this.#closed = true
    await Promise.all([...this.#subscriptions].map((member) => member.close()))
    for (const group of this.#data.groups.keys()) {
      for (const member of this.#subscriptions) leave(this.#data, group, member)
    }
  }

  #open(): MemoryLogData {
    if (this.#closed) throw new ServiceError('event_log_unavailable', 'The event log is closed.')
    return this.#data
  }
}

function leave(data: MemoryLogData, group: string, member: MemorySubscription): void {
  const members = data.groups.get(group) ?? []
  if (!members.includes(member)) return
  data.groups.set(
    group,
    members.filter((other) => other !== member),
  )
  data.shareOut(group)
}
