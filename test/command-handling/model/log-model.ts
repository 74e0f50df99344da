import type { LogRecord, Position } from '../../../src/event-log/event-log.ts'
import { ReferenceConsumer } from '../../projector/reference-consumer.ts'

type Json = Readonly<Record<string, unknown>>

/** An event as anybody may read it who knows JSON. */
export interface StoredEvent {
  readonly position: Position
  readonly stream: string
  readonly type: string
  readonly version: number
  readonly traceparent: string | undefined
  readonly key: string | undefined
  readonly fingerprint: string | undefined
  readonly data: Json
}

/** What an event came to: the pet and its latest order right after it. */
export interface Effect extends StoredEvent {
  /** The offset of the record with which it took effect: its own, or that of a discard. */
  readonly since: number
  readonly pet: Json
  readonly order: Json | undefined
}

/** What the records of all partitions come to by the rules of docs/events.md. */
export class LogModel {
  readonly partitions: readonly PartitionModel[]

  /** `upTo`: by partition, where to end. */
  constructor(
    log: readonly (readonly LogRecord[])[],
    upTo: (partition: number) => number = () => Number.MAX_SAFE_INTEGER,
  ) {
    this.partitions = log.map((records, partition) => {
      const model = new PartitionModel(partition)
      for (const record of records.slice(0, upTo(partition))) model.read(record)
      return model
    })
  }

  get events(): StoredEvent[] {
    return this.partitions.flatMap(({ events }) => events)
  }

  get effects(): Effect[] {
    return this.partitions.flatMap(({ effects }) => effects)
  }

  eventAt({ partition, offset }: Position): StoredEvent | undefined {
    return this.partitions[partition]?.events.find(({ position }) => position.offset === offset)
  }

  effectAt({ partition, offset }: Position): Effect | undefined {
    return this.partitions[partition]?.effects.find(({ position }) => position.offset === offset)
  }

  /** What was parked, be it for some time. */
  get parked(): StoredEvent[] {
    return this.partitions.flatMap(({ parked }) => parked)
  }

  /** In ascending order of id. */
  documents(collection: 'pets' | 'orders', status?: string): Json[] {
    const all = this.partitions.flatMap(({ consumer }) => Object.values(consumer[collection]))
    return all
      .filter((each) => status === undefined || each.status === status)
      .sort((a, b) => Number(a.id) - Number(b.id))
  }
}

class PartitionModel {
  readonly consumer = new ReferenceConsumer()
  readonly events: StoredEvent[] = []
  readonly effects: Effect[] = []
  readonly parked: StoredEvent[] = []
  readonly #partition: number
  /** Parked events by stream: the first could not be applied, the others wait behind it. */
  readonly #queues = new Map<string, { readonly event: StoredEvent; readonly record: LogRecord }[]>()

  constructor(partition: number) {
    this.#partition = partition
  }

  /** What an operator may discard. */
  get firstParked(): StoredEvent[] {
    return [...this.#queues.values()].flatMap(([first]) => first?.event ?? [])
  }

  versionOf(stream: string): number {
    return this.consumer.versionOf(stream)
  }

  read(record: LogRecord): void {
    const event = this.#event(record)
    this.events.push(event)
    if (event.type.includes('EventDiscarded')) this.#discard(event)
    else this.#take(event, record, record.offset)
  }

  #take(event: StoredEvent, record: LogRecord, since: number): void {
    const { stream } = event
    const queue = this.#queues.get(stream)
    if (queue !== undefined) {
      queue.push({ event, record })
      this.parked.push(event)
      return
    }
    const { consumer } = this
    const [version, unread] = [consumer.versionOf(stream), consumer.unread.length]
    consumer.read(record)
    if (consumer.unread.length > unread) {
      this.#queues.set(stream, [{ event, record }])
      this.parked.push(event)
    } else if (consumer.versionOf(stream) > version) this.effects.push({ ...event, since, ...this.#shown(event) })
  }

  #discard({ stream, data, position: { offset } }: StoredEvent): void {
    const [first, ...others] = this.#queues.get(stream) ?? []
    if (first?.event.position.offset !== data.offset) return
    this.#queues.delete(stream)
    for (const { event, record } of others) this.#take(event, record, offset)
  }

  #shown({ stream, data }: StoredEvent): Pick<Effect, 'pet' | 'order'> {
    const pet = this.consumer.pets[Number(stream)]
    if (pet === undefined) throw new Error(`an event took effect without pet ${stream}`)
    return { pet, order: this.consumer.orders[Number(data.orderId)] }
  }

  #event({ offset, value }: LogRecord): StoredEvent {
    const { subject, type, streamversion, traceparent, idempotencykey, requestfingerprint, data } = JSON.parse(
      String(value),
    )
    const position = { partition: this.#partition, offset }
    const request = { traceparent, key: idempotencykey, fingerprint: requestfingerprint }
    return { position, stream: subject, type, version: streamversion, ...request, data }
  }
}
