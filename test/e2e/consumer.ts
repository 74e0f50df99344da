import type { KafkaMessage } from 'kafkajs'
import type { Pet } from './client.ts'

export interface Order {
  readonly id: number
  readonly petId: number
  readonly status: 'placed' | 'approved' | 'delivered' | 'cancelled'
  readonly placedAt: string
  readonly updatedAt: string
}

interface StoredEvent {
  readonly type: string
  readonly time: string
  readonly streamversion?: number
  readonly idempotencykey?: string
  readonly data: Pet & { readonly orderId: number; readonly petId: number }
}

const becomes = {
  'petstore.OrderPlaced.v1': { order: 'placed', pet: 'pending', from: ['available'] },
  'petstore.OrderApproved.v1': { order: 'approved', pet: 'pending', from: ['placed'] },
  'petstore.OrderDelivered.v1': { order: 'delivered', pet: 'sold', from: ['approved'] },
  'petstore.OrderCancelled.v1': { order: 'cancelled', pet: 'available', from: ['placed', 'approved'] },
} as const

/** What a program makes of the topic that knows nothing but docs/events.md: messages of each partition in log order. */
export class Consumer {
  readonly pets = new Map<number, Pet>()
  readonly orders = new Map<number, Order>()
  /** Every status that an order had. */
  readonly history = new Map<number, string[]>()
  /** What an event that took effect did although its pet or order did not allow it. */
  readonly impossible: unknown[] = []
  readonly #versions = new Map<string, number>()
  readonly #keys = new Set<string>()

  constructor(messages: readonly KafkaMessage[]) {
    for (const { key, value } of messages) this.#take(String(key), JSON.parse(String(value)))
  }

  #take(stream: string, event: StoredEvent): void {
    const version = event.streamversion ?? 1
    if (version !== (this.#versions.get(stream) ?? 0) + 1) return // superseded
    if (event.idempotencykey !== undefined && this.#keys.has(event.idempotencykey)) return // a duplicate
    if (event.idempotencykey !== undefined) this.#keys.add(event.idempotencykey)
    this.#versions.set(stream, version)
    if (event.type === 'petstore.PetCreated.v1') this.pets.set(event.data.id, event.data)
    else this.#order(event)
  }

  #order({ type, time, data: { orderId: id, petId } }: StoredEvent): void {
    const { order: status, pet: petStatus, from } = becomes[type as keyof typeof becomes]
    const pet = this.pets.get(petId)
    const before = this.orders.get(id)
    const allowed: readonly (string | undefined)[] = from
    if (pet === undefined || !allowed.includes(status === 'placed' ? pet.status : before?.status)) {
      this.impossible.push({ type, id, petId, pet, before })
      return
    }
    this.pets.set(petId, { ...pet, status: petStatus })
    const updatedAt = before !== undefined && before.updatedAt > time ? before.updatedAt : time
    this.orders.set(id, { id, petId, status, placedAt: before?.placedAt ?? time, updatedAt })
    this.history.set(id, [...(this.history.get(id) ?? []), status])
  }
}

export function byId<T extends { readonly id: number }>(found: Iterable<T>): T[] {
  return [...found].sort((one, other) => one.id - other.id)
}
