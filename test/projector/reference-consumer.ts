import type { AnyRecord } from './records.ts'

interface Envelope {
  readonly type: string
  readonly time: string
  readonly subject: string
  readonly streamversion?: unknown
  readonly idempotencykey?: unknown
  readonly data?: Readonly<Record<string, unknown>>
}

const becomes: Readonly<Record<string, { order: string; pet: string; from: readonly unknown[] }>> = {
  'petstore.OrderPlaced.v1': { order: 'placed', pet: 'pending', from: ['available'] },
  'petstore.OrderApproved.v1': { order: 'approved', pet: 'pending', from: ['placed'] },
  'petstore.OrderDelivered.v1': { order: 'delivered', pet: 'sold', from: ['approved'] },
  'petstore.OrderCancelled.v1': { order: 'cancelled', pet: 'available', from: ['placed', 'approved'] },
}

/** A consumer of one partition that knows the rule of docs/events.md and nothing of this service. */
export class ReferenceConsumer {
  readonly pets: Record<number, Readonly<Record<string, unknown>>> = {}
  readonly orders: Record<number, Readonly<Record<string, unknown>>> = {}
  /** The offsets of the events that were counted and left without effect, with their streams. */
  readonly unread: { readonly stream: string; readonly offset: number }[] = []
  readonly #versions = new Map<string, number>()
  readonly #keys = new Set<unknown>()
  #offset = 0

  versionOf(stream: string): number {
    return this.#versions.get(stream) ?? 0
  }

  read({ key, value }: AnyRecord): void {
    const offset = this.#offset++
    const event = envelopeOf(value)
    if (event === undefined || event.subject !== key?.toString()) return
    if (!event.type.startsWith('petstore.') || event.type.startsWith('petstore.EventDiscarded.')) return
    const isFirstRelease = event.type === 'petstore.PetCreated.v1' && event.streamversion === undefined
    const version = isFirstRelease ? 1 : event.streamversion
    if (version !== this.versionOf(event.subject) + 1) return
    if (typeof event.idempotencykey === 'string') {
      if (this.#keys.has(event.idempotencykey)) return
      this.#keys.add(event.idempotencykey)
    }
    this.#versions.set(event.subject, version)
    if (!this.#apply(event)) this.unread.push({ stream: event.subject, offset })
  }

  /** Whether it could be read, and contradicts nothing. */
  #apply(event: Envelope): boolean {
    return event.type === 'petstore.PetCreated.v1' ? this.#create(event) : this.#order(event)
  }

  #create({ subject, data }: Envelope): boolean {
    const id = Number(subject)
    if (data?.name === undefined || data.id !== id || this.pets[id] !== undefined) return false
    this.pets[id] = data
    return true
  }

  #order({ type, subject, time, data }: Envelope): boolean {
    const change = becomes[type]
    const [pet, order] = [this.pets[Number(subject)], this.orders[Number(data?.orderId)]]
    if (change === undefined || data === undefined || pet === undefined || data.petId !== pet.id) return false
    if (change.order === 'placed' ? order !== undefined : order?.petId !== data.petId) return false
    if (!change.from.includes(change.order === 'placed' ? pet.status : order?.status)) return false
    this.pets[Number(subject)] = { ...pet, status: change.pet }
    const placed = order ?? { id: data.orderId, petId: data.petId, placedAt: time, updatedAt: time }
    const updatedAt = String(placed.updatedAt) > time ? placed.updatedAt : time
    this.orders[Number(data.orderId)] = { ...placed, status: change.order, updatedAt }
    return true
  }
}

function envelopeOf(value: Buffer | null): Envelope | undefined {
  try {
    const event = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(value ?? Buffer.from('')))
    return event?.specversion === '1.0' ? event : undefined
  } catch {
    return undefined
  }
}
