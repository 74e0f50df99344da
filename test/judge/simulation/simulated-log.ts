import { eventIdOf, type Idempotency } from '../../../src/command-handling/idempotency.ts'
import { encodeEvent } from '../../../src/domain/event-codec.ts'
import type { PetEvent } from '../../../src/domain/events.ts'
import type { Order } from '../../../src/domain/order.ts'
import type { Pet } from '../../../src/domain/pet.ts'
import { type PetState, petDecider } from '../../../src/domain/pet-stream.ts'
import type { Position } from '../../../src/event-log/event-log.ts'
import { partitionOf } from '../../../src/event-log/kafka/default-partitioner.ts'
import { type LogRecord, traceparentOf } from '../history.ts'

export const partitions = 6

export interface Entry extends Position {
  readonly event: PetEvent
  readonly stream: number
  readonly version: number
  readonly time: string
  readonly idempotency: Idempotency | undefined
  readonly value: string
}

/** What the events up to some offsets amount to. */
export class View {
  readonly streams = new Map<number, { readonly state: PetState; readonly version: number }>()
  readonly orders = new Map<number, Order>()
  /** The version at which each order last changed. */
  readonly orderVersions = new Map<number, number>()
  /** The events of each stream. */
  readonly events = new Map<number, readonly unknown[]>()
  readonly decided = new Map<string, Entry>()

  apply(entry: Entry): void {
    const { stream, version, event, idempotency } = entry
    const before = this.streams.get(stream)
    if (version !== (before?.version ?? 0) + 1 || this.decided.has(idempotency?.key ?? '')) return
    const state = petDecider.evolve(before?.state, entry)
    if (state === undefined) throw new Error('an event left no pet')
    this.streams.set(stream, { state, version })
    this.events.set(stream, [...(this.events.get(stream) ?? []), JSON.parse(entry.value)])
    if (event.type !== 'PetCreated' && state.order !== undefined) {
      const { version: changedAt, ...order } = state.order
      this.orders.set(order.id, order)
      this.orderVersions.set(order.id, changedAt)
    }
    if (idempotency !== undefined) this.decided.set(idempotency.key, entry)
  }

  get pets(): readonly Pet[] {
    return [...this.streams.values()].map(({ state }) => state.pet)
  }
}

/** The event log of a simulated service. Its order decides which events take effect. */
export class SimulatedLog {
  readonly #now: () => number
  readonly #partitions: Entry[][] = Array.from({ length: partitions }, () => [])
  readonly #lastIds: number[] = new Array(partitions).fill(0)

  constructor(now: () => number) {
    this.#now = now
  }

  get records(): LogRecord[] {
    return this.#partitions
      .flat()
      .map(({ partition, offset, stream, value }) => ({ partition, offset, key: String(stream), value }))
  }

  end(partition: number): number {
    return this.#partitions[partition]?.length ?? 0
  }

  get ends(): number[] {
    return this.#partitions.map(({ length }) => length)
  }

  /** The next id that belongs in the partition. */
  draw(partition: number): number {
    let id = (this.#lastIds[partition] ?? 0) + 1
    while (partitionOf(String(id), partitions) !== partition) id++
    this.#lastIds[partition] = id
    return id
  }

  append(draft: Omit<Entry, 'offset' | 'time' | 'value'>, number: number): Entry {
    const { partition, event, version, idempotency } = draft
    const offset = this.end(partition)
    const time = new Date(Date.UTC(2026, 10, 20) + this.#now()).toISOString()
    const isKeyedPet = event.type === 'PetCreated' && idempotency !== undefined
    const eventId = isKeyedPet ? eventIdOf(idempotency) : `event-${partition}-${offset}`
    const { value } = encodeEvent(event, { eventId, version, time, traceparent: traceparentOf(number), idempotency })
    const entry = { ...draft, offset, time, value }
    this.#partitions[partition]?.push(entry)
    return entry
  }

  /** What the events before these offsets amount to, by partition. */
  view(next: readonly number[]): View {
    const view = new View()
    for (const [partition, end] of next.entries()) {
      for (const entry of this.#partitions[partition]?.slice(0, end) ?? []) view.apply(entry)
    }
    return view
  }

  /** What the events of its partition amount to, up to this one. */
  viewAfter({ partition, offset }: Position): View {
    return this.view(Array.from({ length: partitions }, (_, at) => (at === partition ? offset + 1 : 0)))
  }

  /** The events behind one offset of a partition, before another one, that took effect. */
  applied(partition: number, after: number, next: number): unknown[] {
    const entries = this.#partitions[partition]?.slice(after + 1, next) ?? []
    return entries.filter((entry) => this.isApplied(entry)).map(({ value }) => JSON.parse(value))
  }

  isApplied(entry: Entry): boolean {
    const versionAt = (offset: number) => this.viewAfter({ ...entry, offset }).streams.get(entry.stream)?.version
    return versionAt(entry.offset) !== versionAt(entry.offset - 1)
  }
}
