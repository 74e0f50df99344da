import { Rejected } from '../../../src/command-handling/decider.ts'
import type { Idempotency } from '../../../src/command-handling/idempotency.ts'
import { createPetIdempotency, placeOrderIdempotency } from '../../../src/domain/idempotency.ts'
import type { Order, OrderStatus } from '../../../src/domain/order.ts'
import { type NewPet, type Pet, type PetId, toNewPet } from '../../../src/domain/pet.ts'
import { type PetCommand, petDecider } from '../../../src/domain/pet-stream.ts'
import type { Position } from '../../../src/event-log/event-log.ts'
import { partitionOf } from '../../../src/event-log/kafka/default-partitioner.ts'
import { writeToken } from '../../../src/http/tokens.ts'
import type { Random } from '../../lib/random.ts'
import { type Exchange, positionsOf } from '../history.ts'
import { type Entry, partitions, type SimulatedLog, type View } from './simulated-log.ts'

export type Question = Pick<Exchange, 'operation' | 'id' | 'wanted' | 'idempotencyKey' | 'page' | 'token' | 'cached'>
export type Answer = Pick<
  Exchange,
  'status' | 'code' | 'body' | 'tag' | 'tokenAfter' | 'isApplied' | 'isReplayed' | 'hasNext'
>

/** What goes on at the same time, step by step. */
export type Steps<T = void> = Generator<void, T>

/** A process that has applied some prefix of each partition. */
export interface Instance {
  readonly name: string
  readonly next: number[]
}

const statuses: Readonly<Record<string, number>> = {
  unknown_pet: 422,
  order_not_found: 404,
  pet_not_found: 404,
  precondition_failed: 412,
}

/** A small model of the service: instances that decide on what they have applied, and a log that decides between them. */
export class SimulatedService {
  readonly #random: Random
  readonly #log: SimulatedLog
  readonly #later: (steps: Steps) => void

  /** `later` goes on with steps after their request was answered. */
  constructor(random: Random, log: SimulatedLog, later: (steps: Steps) => void) {
    this.#random = random
    this.#log = log
    this.#later = later
  }

  *answer(instance: Instance, question: Question, number: number): Steps<Answer> {
    const { operation, idempotencyKey, token } = question
    const isRead = /^(get|list|follow)/.test(operation)
    const isAlone = operation === 'createPet' && idempotencyKey === undefined
    yield
    const needsLog = !isRead || operation === 'followEvents'
    if (this.#random.chance(0.04)) return refusal(needsLog ? 'event_log_unavailable' : 'read_model_unavailable', 503)
    if (operation === 'followEvents') return this.#follow(instance, token)
    const sent = [...positionsOf(token)].map(([partition, offset]) => ({ partition, offset }))
    if (!isAlone && !(yield* this.#reach(instance, sent, 12))) return refusal('read_model_behind', 503)
    return isRead ? this.#read(instance, question) : yield* this.#write(instance, question, number)
  }

  *#reach({ next }: Instance, positions: readonly Position[], patience: number): Steps<boolean> {
    for (let waits = 0; waits < patience; waits++) {
      if (positions.every(({ partition, offset }) => offset < (next[partition] ?? 0))) return true
      yield
    }
    return false
  }

  /** A step of a feed: where it begins, or what one partition has behind the token, as far as the instance has applied it. */
  #follow({ next }: Instance, token: string | undefined): Answer {
    if (token === undefined) return { status: 200, body: [], tokenAfter: tokenOf(undefined, reached(this.#log.ends)) }
    const partition = this.#random.below(partitions)
    const after = positionsOf(token).get(partition) ?? -1
    const last = Math.max(after, (next[partition] ?? 0) - 1)
    const body = this.#log.applied(partition, after, last + 1)
    return { status: 200, body, tokenAfter: tokenOf(token, last < 0 ? [] : [{ partition, offset: last }]) }
  }

  #read({ next }: Instance, { operation, id = 0, page, token, cached }: Question): Answer {
    const view = this.#log.view(next)
    const told = token === undefined ? {} : { tokenAfter: tokenOf(token, reached(next)) }
    if (page === undefined) {
      const isOfPet = operation !== 'getOrder'
      const document = isOfPet ? view.streams.get(id)?.state.pet : view.orders.get(id)
      const body = operation === 'listEvents' ? view.events.get(id) : document
      const tag = operation === 'listEvents' ? {} : { tag: tagOf(view, isOfPet, id) }
      const status = tag.tag !== undefined && tag.tag === cached?.tag ? 304 : 200
      if (body !== undefined) return { status, body, ...tag, ...told }
      return { ...refusal(isOfPet ? 'pet_not_found' : 'order_not_found', 404), ...told }
    }
    const { after, limit, status } = page
    const all: readonly (Pet | Order)[] = operation === 'listPets' ? view.pets : [...view.orders.values()]
    const matching = all.filter((one) => one.id > after && (status === undefined || one.status === status))
    const body = matching.sort((one, other) => one.id - other.id).slice(0, limit)
    return { status: 200, body, hasNext: matching.length > limit, ...told }
  }

  *#write(instance: Instance, question: Question, number: number): Steps<Answer> {
    const { operation, id = 0, wanted, token, idempotencyKey } = question
    const newPet = toNewPet({ ...wanted } as NewPet)
    const idempotency = idempotencyOf(question, newPet)
    for (let attempt = 0; attempt < 3; attempt++) {
      const view = this.#log.view(instance.next)
      const earlier = view.decided.get(idempotency?.key ?? '')
      if (earlier !== undefined) return { ...this.#created(earlier, token), isReplayed: true }
      const order = view.orders.get(id)
      const told = { tokenAfter: tokenOf(token, reached(instance.next)) }
      const toldOfOrder = operation === 'updateOrder' && token !== undefined ? told : {}
      if (operation === 'updateOrder' && order === undefined)
        return { ...refusal('order_not_found', 404), ...toldOfOrder }

      const stream = operation === 'createPet' ? undefined : (order?.petId ?? id)
      const partition = partitionOf(String(stream ?? idempotency?.key ?? this.#random.next()), partitions)
      const drawn = operation === 'updateOrder' ? id : this.#log.draw(partition)
      const before = view.streams.get(stream ?? drawn)
      const event = petDecider.decide(commandOf(question, drawn, newPet, view), before?.state)
      if (event === 'unchanged') return { status: 200, body: order, tag: tagOf(view, false, id), ...told }
      if (event instanceof Rejected) return { ...refusal(event.code, statuses[event.code] ?? 409), ...toldOfOrder }
      yield
      const append = () =>
        this.#log.append(
          { partition, event, stream: stream ?? drawn, version: (before?.version ?? 0) + 1, idempotency },
          number,
        )
      if (this.#random.chance(0.05)) return this.#loseOutcome(append)
      const entry = append()
      if (operation === 'createPet' && idempotencyKey === undefined) {
        const isApplied = yield* this.#reach(instance, [entry], 4)
        return { ...this.#created(entry, token), isApplied }
      }
      if (!(yield* this.#reach(instance, [entry], 25))) return refusal('append_outcome_unknown', 504)
      if (!this.#log.isApplied(entry)) continue
      return operation === 'updateOrder' ? { ...this.#created(entry, token), status: 200 } : this.#created(entry, token)
    }
    return refusal('conflict', 503)
  }

  /** Nobody knows whether the record is in the log, or arrives there later. */
  #loseOutcome(append: () => void): Answer {
    const delay = this.#random.below(40)
    function* arrive(): Steps {
      for (let waited = 0; waited < delay; waited++) yield
      append()
    }
    if (this.#random.chance(0.6)) this.#later(arrive())
    return refusal('append_outcome_unknown', 504)
  }

  /** The pet or the order as it was right after the event. */
  #created(entry: Entry, token: string | undefined): Answer {
    const { event, stream } = entry
    const view = this.#log.viewAfter(entry)
    const body = event.type === 'PetCreated' ? view.streams.get(stream)?.state.pet : view.orders.get(event.orderId)
    if (body === undefined) throw new Error('the event had no effect')
    const tag = tagOf(view, event.type === 'PetCreated', body.id)
    return { status: 201, body, tag, tokenAfter: tokenOf(token, [entry]) }
  }
}

function tagOf({ streams, orderVersions }: View, isOfPet: boolean, id: number): string {
  return `"${isOfPet ? streams.get(id)?.state.petVersion : orderVersions.get(id)}"`
}

function refusal(code: string, status: number): Answer {
  return { status, code }
}

function reached(next: readonly number[]): Position[] {
  return next.flatMap((end, partition) => (end > 0 ? [{ partition, offset: end - 1 }] : []))
}

function tokenOf(sent: string | undefined, positions: readonly Position[]): string {
  const before = [...positionsOf(sent)].map(([partition, offset]) => ({ partition, offset }))
  return writeToken({ logId: 'simulated', partitions }, [...before, ...positions])
}

function idempotencyOf({ operation, id, idempotencyKey: key }: Question, newPet: NewPet): Idempotency | undefined {
  if (key === undefined) return undefined
  return operation === 'createPet'
    ? createPetIdempotency('owner', key, newPet)
    : placeOrderIdempotency('owner', key, id as PetId)
}

function commandOf(question: Question, drawn: number, newPet: NewPet, { orders, orderVersions }: View): PetCommand {
  const { operation, id = 0, wanted, cached } = question
  if (operation === 'createPet') return { type: 'createPet', id: drawn as PetId, newPet }
  const orderId = drawn as Order['id']
  if (operation === 'placeOrder') return { type: 'placeOrder', orderId, petId: id as PetId }
  const status = wanted?.status as OrderStatus
  const ifMatch = cached && [Number(cached.tag.slice(1, -1))]
  const finalVersion = orders.get(id)?.status === 'cancelled' ? orderVersions.get(id) : undefined
  return { type: 'updateOrder', orderId, status, ifMatch, finalVersion }
}
