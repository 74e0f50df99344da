import type { CommandOptions, Handled } from '../../src/command-handling/command-handler.ts'
import { createCommandHandler } from '../../src/command-handling/execution.ts'
import { IdAllocator } from '../../src/command-handling/id-allocator.ts'
import { encodeEvent } from '../../src/domain/event-codec.ts'
import type { PetEvent } from '../../src/domain/events.ts'
import { createPetIdempotency, placeOrderIdempotency } from '../../src/domain/idempotency.ts'
import type { OrderId, OrderStatus } from '../../src/domain/order.ts'
import { type NewPet, type PetId, petDocument } from '../../src/domain/pet.ts'
import { type PetCommand, type PetState, petDecider, petStateCodec } from '../../src/domain/pet-stream.ts'
import type { NewRecord } from '../../src/event-log/event-log.ts'
import { type ErrorCode, ServiceError } from '../../src/lib/errors.ts'
import type { IdempotencyRecord } from '../../src/read-models/idempotency-record.ts'
import type { Applied, AtLeast, Wait } from '../../src/read-models/read-model.ts'
import type { LoadedStream, StreamQuery } from '../../src/read-models/stored-reads.ts'
import { offsetsKept } from '../../src/read-models/stream-row.ts'

export const rex: NewPet = { name: 'Rex', categoryId: 7, status: 'available' }
export const petId = 9 as PetId
/** The offset of the next record, in every partition. */
export const nextOffset = 2 * offsetsKept
export const time = '2026-11-20T09:30:00.000Z'
export const keyOfPet = createPetIdempotency('api-key-id', 'once', rex)
export const keyOfOrder = placeOrderIdempotency('api-key-id', 'once', petId)
export const partitionOfKey = 2

export const petCreated: PetEvent = { type: 'PetCreated', pet: { id: petId, ...rex } }
const orderEvent = (type: 'OrderPlaced' | 'OrderApproved' | 'OrderCancelled') => (orderId: number) =>
  ({ type, orderId: orderId as OrderId, petId }) as const
export const orderPlaced = orderEvent('OrderPlaced')
export const orderApproved = orderEvent('OrderApproved')
export const orderCancelled = orderEvent('OrderCancelled')

export const failure = (code: ErrorCode) => new ServiceError(code, code)
export const nothing: LoadedStream = { row: undefined, hasParked: false, isParked: false, decided: undefined }

/** The stream of the pet in which these events took effect, at the offsets 0, 1, … unless told otherwise. */
export function stream(
  events: readonly PetEvent[],
  { offsets = [...events.keys()], ...over }: Partial<LoadedStream> & { offsets?: readonly number[] } = {},
): LoadedStream {
  const state = events.reduce(
    (before: PetState | undefined, event, index) => petDecider.evolve(before, { event, version: index + 1, time }),
    undefined,
  )
  const document = state && { json: petDocument(state.pet), version: state.petVersion }
  const hidden = petStateCodec.hidden(state)
  const row = { stream: String(petId), version: events.length, offsets: offsets.slice(-offsetsKept), document, hidden }
  return { ...nothing, row: events.length > 0 ? row : undefined, ...over }
}

export function record(over: Partial<IdempotencyRecord> = {}): IdempotencyRecord {
  return {
    partition: partitionOfKey,
    ...keyOfPet,
    offset: 3,
    stream: '5',
    id: 5,
    version: 1,
    time,
    parked: false,
    ...over,
  }
}

/** What the parts around the handler answer, in turn; an error is thrown. What a script does not name goes well. */
export interface Script {
  readonly loads?: readonly (LoadedStream | Error | (() => LoadedStream | Promise<LoadedStream>))[]
  readonly heard?: readonly Applied[]
  readonly appends?: readonly Error[]
  readonly reserveIdBlock?: () => Promise<number>
}

/** The command handler between parts that do as the script says, and a record of what it asked of them. */
export function open({ loads = [], heard = [], appends = [], reserveIdBlock }: Script) {
  let blocks = 0
  const asked = {
    loads: [] as { query: StreamQuery; atLeast: AtLeast | undefined }[],
    waits: [] as Wait[],
    appended: [] as {
      partition: number
      record: NewRecord
      event: { id: string; streamversion: number; data: object }
    }[],
  }
  const log = {
    partitions: 3,
    partitionFor: (key: string) => (key === keyOfPet.key ? partitionOfKey : Number(key) % 3),
    reserveIdBlock: reserveIdBlock ?? (async () => ++blocks),
  }
  const appender = {
    gathering: 0,
    append: async (partition: number, appended: NewRecord) => {
      const error = appends[asked.appended.length]
      asked.appended.push({ partition, record: appended, event: JSON.parse(appended.value) })
      if (error !== undefined) throw error
      return { partition, offset: nextOffset + asked.appended.length - 1 }
    },
  }
  const handler = createCommandHandler({
    readModel: {
      load: async (query, atLeast) => {
        const answer = loads[asked.loads.length]
        asked.loads.push({ query, atLeast })
        if (answer === undefined) throw new Error('the script does not say what is loaded')
        if (answer instanceof Error) throw answer
        const loaded = await (typeof answer === 'function' ? answer() : answer)
        return { ...loaded, reached: [] }
      },
      whenApplied: async (_, wait) => {
        asked.waits.push(wait)
        return heard[asked.waits.length - 1] ?? 'applied'
      },
    },
    log,
    appender,
    ids: new IdAllocator(log),
    kind: { codec: petStateCodec, encode: encodeEvent },
    now: () => new Date(time),
    timeoutMs: 5000,
  })
  const handle = (command: (id: number) => PetCommand, over: Partial<CommandOptions>) =>
    handler.handle(petDecider, command, { stream: String(petId), wait: { timeoutMs: 1000 }, ...over })
  return {
    ...asked,
    appender,
    /** The events that were appended, as partition/stream@version. */
    events: () =>
      asked.appended.map(({ partition, record: { key }, event }) => `${partition}/${key}@${event.streamversion}`),
    create: (over: Partial<CommandOptions> = {}) =>
      handle((id) => ({ type: 'createPet', id: id as PetId, newPet: rex }), { stream: 'new', ...over }),
    order: (over: Partial<CommandOptions> = {}, pet = petId) =>
      handle((id) => ({ type: 'placeOrder', orderId: id as OrderId, petId: pet }), {
        stream: String(pet),
        drawsId: true,
        ...over,
      }),
    update: (orderId: number, status: OrderStatus, over: Partial<CommandOptions> = {}) => {
      const order = { orderId: orderId as OrderId, status, ifMatch: undefined, finalVersion: undefined }
      return handle(() => ({ type: 'updateOrder', ...order }), over)
    },
  }
}

export function rejection(promise: Promise<unknown>): Promise<unknown> {
  return promise.then(
    () => undefined,
    (error: unknown) => error,
  )
}

export function applied(handled: Handled<PetState | undefined>) {
  if (handled.outcome !== 'applied') throw new Error(`it was ${handled.outcome}`)
  return handled
}
