import type { Idempotency } from '../../../src/command-handling/idempotency.ts'
import { createPetIdempotency, placeOrderIdempotency } from '../../../src/domain/idempotency.ts'
import type { OrderId, OrderStatus } from '../../../src/domain/order.ts'
import type { NewPet, PetId } from '../../../src/domain/pet.ts'
import type { Position } from '../../../src/event-log/event-log.ts'
import type { Page } from '../../../src/read-models/read-model.ts'
import type { ApiProcess, Result } from './process.ts'

export const newPets = {
  Rex: { name: 'Rex', categoryId: 7, status: 'available' },
  Mia: { name: 'Mia', categoryId: 7, status: 'sold' },
} as const satisfies Record<string, NewPet>

export type Asked =
  | { readonly kind: 'create'; readonly pet: keyof typeof newPets; readonly key: string | undefined }
  /** The pet and the order are one of those that clients know of. */
  | { readonly kind: 'order'; readonly pet: number; readonly key: string | undefined }
  | { readonly kind: 'update'; readonly order: number; readonly status: OrderStatus }

export interface WaitOptions {
  readonly waitMs: number
  /** Whether the request has a token for all that any client knows of. */
  readonly withToken: boolean
  /** When the client goes, if it does not stay for the answer. */
  readonly goesAfterMs?: number | undefined
}

export interface ReadOptions extends WaitOptions {
  readonly collection: 'pets' | 'orders'
  readonly status: string | undefined
}

interface Request<Answer> {
  /** The process asked: one that took another's place is another one. */
  readonly api: ApiProcess
  /** What the token of the request stands for. */
  readonly atLeast: readonly Position[]
  /** Where question and answer come in the order of all that clients saw; unanswered while there is none. */
  readonly asked: number
  answered?: number
  answer?: Answer
  failure?: unknown
}

export interface Write extends Request<Result> {
  /** Names the request, in the log too. */
  readonly traceparent: string
  readonly what: Asked
  /** The id of the pet that is ordered, or of the order that is updated. */
  readonly id: number
  readonly idempotency: Idempotency | undefined
}

export interface Read extends Request<Page> {
  readonly options: ReadOptions
}

/** Send requests without waiting for one another, and remember what they were answered. */
export class Clients {
  readonly writes: Write[] = []
  readonly reads: Read[] = []
  /** The ids of those that clients know of. */
  readonly pets: number[] = []
  readonly orders: number[] = []
  #turn = 0

  write(api: ApiProcess, what: Asked, options: WaitOptions): void {
    const id = this.#idOf(what)
    const traceparent = `request ${this.writes.length}`
    const idempotency = idempotencyOf(what, id as PetId)
    const write: Write = { ...this.#ask(api, options), traceparent, what, id, idempotency }
    this.writes.push(write)
    const ask = { traceparent, idempotency, ...waitOf(options, write.atLeast) }
    const answer = (): Promise<Result> => {
      if (what.kind === 'create') return api.create(newPets[what.pet], ask)
      return what.kind === 'order' ? api.order(id as PetId, ask) : api.update(id as OrderId, what.status, ask)
    }
    void this.#remember(write, answer()).then(() => this.#learn(write))
  }

  read(api: ApiProcess, options: ReadOptions): void {
    const { collection, status } = options
    const read: Read = { ...this.#ask(api, options), options }
    this.reads.push(read)
    const query = { collection, index: status && `status:${status}`, after: 0, limit: 1000 }
    void this.#remember(read, api.readModel.page(query, waitOf(options, read.atLeast).atLeast))
  }

  /** Who asked a process that is no more is never answered. */
  allAnswered(living: readonly ApiProcess[]): boolean {
    return [...this.writes, ...this.reads].every(({ api, answered }) => answered !== undefined || !living.includes(api))
  }

  #idOf(what: Asked): number {
    if (what.kind === 'create') return 0
    const [known, turn] = what.kind === 'order' ? [this.pets, what.pet] : [this.orders, what.order]
    return known[turn % (known.length + 1)] ?? 1 // now and then one that nobody was told of
  }

  #learn({ what, answer }: Write): void {
    if (answer === undefined || answer.outcome === 'unchanged') return
    const known = what.kind === 'create' ? this.pets : this.orders
    const { pet, order } = (answer.outcome === 'applied' && answer.state) || {}
    const id = answer.outcome === 'replayed' ? answer.record.id : (order ?? pet)?.id
    if (id !== undefined && !known.includes(id)) known.push(id)
  }

  #ask(api: ApiProcess, { withToken }: WaitOptions) {
    const known = this.writes.flatMap(({ answer }) => (answer && 'position' in answer ? [answer.position] : []))
    return { api, asked: this.#turn++, atLeast: withToken ? known : [] }
  }

  async #remember<T>(request: Request<T>, answer: Promise<T>): Promise<void> {
    try {
      request.answer = await answer
    } catch (error) {
      request.failure = error
    }
    request.answered = this.#turn++
  }
}

function idempotencyOf(what: Asked, petId: PetId): Idempotency | undefined {
  if (what.kind === 'update' || what.key === undefined) return undefined
  return what.kind === 'create'
    ? createPetIdempotency('api-key', what.key, newPets[what.pet])
    : placeOrderIdempotency('api-key', what.key, petId)
}

function waitOf({ waitMs, goesAfterMs }: WaitOptions, positions: readonly Position[]) {
  const goesAt = performance.now() + (goesAfterMs ?? Number.POSITIVE_INFINITY)
  const wait = { timeoutMs: waitMs, isAbandoned: () => performance.now() >= goesAt }
  return { wait, ...(positions.length > 0 && { atLeast: { positions, wait } }) }
}
