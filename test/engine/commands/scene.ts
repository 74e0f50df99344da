import type { CommandOptions, Handled, MakeCommand } from '../../../src/engine/commands/command-handler.ts'
import { createCommandHandler } from '../../../src/engine/commands/execution.ts'
import { IdAllocator } from '../../../src/engine/commands/id-allocator.ts'
import type { EngineErrorCode } from '../../../src/engine/lib/errors/engine-errors.ts'
import { ServiceError } from '../../../src/engine/lib/errors/errors.ts'
import type { NewRecord, Position } from '../../../src/engine/log/event-log.ts'
import type { StreamQuery } from '../../../src/engine/read-models/ports/reads.ts'
import type { Applied, AtLeast, FoundStream, Wait } from '../../../src/engine/read-models/read-model.ts'
import {
  decodeEntry,
  encodeEntry,
  type IdempotencyRecord,
  type ParkedStream,
} from '../../../src/engine/read-models/stored-texts.ts'
import { entriesIn } from '../../../src/engine/read-models/stream-history.ts'
import { nothingLoaded } from '../../../src/engine/rule/awaiting.ts'
import {
  type BookingStatus,
  bookingDocument,
  type NewSeat,
  type SeatCommand,
  type SeatEvent,
  type SeatState,
  seatDocument,
} from '../theatre/seats.ts'
import { addSeatIdempotency, hiddenOf, placeBookingIdempotency, theatre } from '../theatre/theatre.ts'
import { unseenBlocks } from './unseen-blocks.ts'

export const a12: NewSeat = { name: 'A12', rowId: 7, status: 'available' }
export const seatId = 9
/** The offset of the next record, in every partition. */
export const nextOffset = 2000
export const time = '2026-11-20T09:30:00.000Z'
export const keyOfSeat = addSeatIdempotency('api-key-id', 'once', a12)
export const keyOfBooking = placeBookingIdempotency('api-key-id', 'once', seatId)
export const partitionOfKey = 2

export const seatAdded: SeatEvent = { type: 'SeatAdded', seat: { id: seatId, ...a12 } }
export const seatRemoved: SeatEvent = { type: 'SeatRemoved', seatId }
const bookingEvent =
  (type: 'BookingPlaced' | 'BookingApproved' | 'BookingDelivered' | 'BookingCancelled') => (bookingId: number) =>
    ({ type, bookingId, seatId }) as const
export const bookingPlaced = bookingEvent('BookingPlaced')
export const bookingApproved = bookingEvent('BookingApproved')
export const bookingDelivered = bookingEvent('BookingDelivered')
export const bookingCancelled = bookingEvent('BookingCancelled')

export const failure = (code: EngineErrorCode) => new ServiceError(code, code)
export const nothing = nothingLoaded
/** An event of the stream is parked, at this offset. */
export const parkedAt = (first: number, stream = String(seatId)): { parked: ParkedStream } => {
  return { parked: { stream, partition: 0, first, waiting: 0, reason: '' } }
}

/** Stands for the id of the event that was appended at the same offset. */
const ownId = 'own'

/**
 * The stream of the seat in which these events took effect, at the offsets 0, 1, … unless told otherwise. What is at the
 * offset of an appended event is that event, unless `areRivals`.
 */
export function stream(
  events: readonly SeatEvent[],
  {
    offsets = [...events.keys()],
    areRivals = false,
    ...over
  }: Partial<FoundStream> & { offsets?: readonly number[]; areRivals?: boolean } = {},
): FoundStream {
  const state = events.reduce(
    (before: SeatState | undefined, event, index) => theatre.stream.evolve(before, { event, version: index + 1, time }),
    undefined,
  )
  const entries = offsets.map((offset) => encodeEntry(offset, areRivals ? 'rival' : ownId))
  const isRemoved = state?.isRemoved ?? false
  const [document, hidden] = [state && !isRemoved ? seatDocument(state.seat) : undefined, hiddenOf(state)]
  const row = { stream: String(seatId), version: events.length, entries, document, isRemoved, hidden }
  return { ...nothing, row: events.length > 0 ? row : undefined, ...over }
}

export function record(over: Partial<IdempotencyRecord> = {}): IdempotencyRecord {
  return {
    partition: partitionOfKey,
    ...keyOfSeat,
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
  readonly loads?: readonly (FoundStream | Error | (() => FoundStream | Promise<FoundStream>))[]
  readonly heard?: readonly Applied[]
  readonly appends?: readonly Error[]
  readonly reserveIdBlock?: () => Promise<number>
  /** The end of each partition. */
  readonly endOffset?: () => number
  readonly generation?: () => string
  /** What the clock says. */
  readonly clock?: () => Date
  /** What the theatre does otherwise. */
  readonly decide?: typeof theatre.stream.decide
  readonly evolve?: typeof theatre.stream.evolve
}

/** The command handler between parts that do as the script says, and a record of what it asked of them. */
export function open({ loads = [], heard = [], appends = [], ...script }: Script) {
  const { decide = theatre.stream.decide, evolve = theatre.stream.evolve } = script
  let blocks = 0
  const asked = {
    loads: [] as { query: StreamQuery; atLeast: AtLeast | undefined }[],
    waits: [] as Wait[],
    followed: [] as Position[],
    appended: [] as {
      partition: number
      record: NewRecord
      deadline: number
      event: { id: string; streamversion: number; data: object }
    }[],
  }
  const log = {
    partitions: 3,
    partitionFor: (key: string) => (key === keyOfSeat.key ? partitionOfKey : Number(key) % 3),
    reserveIdBlock: script.reserveIdBlock ?? (async () => ++blocks),
    endOffsets: async () => Array(3).fill(script.endOffset?.() ?? nextOffset + 1000),
  }
  const appender = {
    gathering: 0,
    append: async (partition: number, appended: NewRecord, deadline: number) => {
      const error = appends[asked.appended.length]
      asked.appended.push({ partition, record: appended, deadline, event: JSON.parse(appended.value) })
      if (error !== undefined) throw error
      return { partition, offset: nextOffset + asked.appended.length - 1 }
    },
  }
  /** As it is asked for: with the entries of these versions, and the document. */
  function found(loaded: FoundStream, { versions, document }: StreamQuery): FoundStream {
    const entries = loaded.row?.entries.map((text) => {
      const { offset } = decodeEntry(text)
      const appended = asked.appended[offset - nextOffset]
      return appended && text === encodeEntry(offset, ownId) ? encodeEntry(offset, appended.event.id) : text
    })
    const row = loaded.row && entries && { ...loaded.row, entries }
    const { booking } = (row && theatre.codec.read(row)) ?? {}
    const isLatest = document?.collection === 'bookings' && booking?.id === document.id
    const shown = isLatest && booking ? bookingDocument(booking) : document?.collection === 'seats' && row?.document
    return {
      ...loaded,
      row,
      document: loaded.document ?? (shown ? { json: shown, stream: String(seatId) } : undefined),
      entries: (row && versions && entriesIn(row, versions, () => undefined)) ?? nothing.entries,
    }
  }
  const handler = createCommandHandler({
    readModel: {
      reportDamage: () => {},
      generationOf: () => script.generation?.() ?? 'generation',
      load: async (query, atLeast) => {
        const answer = loads[asked.loads.length]
        asked.loads.push({ query, atLeast })
        if (answer === undefined) throw new Error('the script does not say what is loaded')
        if (answer instanceof Error) throw answer
        return found(typeof answer === 'function' ? await answer() : answer, query)
      },
      whenApplied: async (_, wait) => {
        asked.waits.push(wait)
        return heard[asked.waits.length - 1] ?? 'applied'
      },
    },
    log,
    appender,
    ids: new IdAllocator(log, unseenBlocks(log)),
    acknowledged: { follow: (written) => void asked.followed.push(written.position) },
    ...{ definition: theatre, kind: { ...theatre, stream: { ...theatre.stream, decide, evolve } } },
    now: script.clock ?? (() => new Date(time)),
    timeoutMs: 5000,
  })
  const handle = (command: MakeCommand<SeatCommand>, over: Partial<CommandOptions>) =>
    handler.handle(command, { stream: String(seatId), owner: 'owner', wait: { timeoutMs: 1000 }, ...over })
  return {
    ...asked,
    appender,
    /** The events that were appended, as partition/stream@version. */
    events: () =>
      asked.appended.map(({ partition, record: { key }, event }) => `${partition}/${key}@${event.streamversion}`),
    create: (over: Partial<CommandOptions> = {}) =>
      handle(({ id }) => ({ type: 'addSeat', id, newSeat: a12 }), { stream: 'new', ...over }),
    book: (over: Partial<CommandOptions> = {}, seat = seatId) =>
      handle(({ id }) => ({ type: 'placeBooking', bookingId: id, seatId: seat }), {
        stream: String(seat),
        creates: 'bookings',
        ...over,
      }),
    remove: (seat = seatId, over: Partial<CommandOptions> = {}) =>
      handle(({ id }) => ({ type: 'removeSeat', id: id || seat }), {
        stream: { collection: 'seats', id: seat },
        ...over,
      }),
    update: (bookingId: number, status: BookingStatus, over: Partial<CommandOptions> = {}) => {
      const command = (): SeatCommand => ({ type: 'updateBooking', bookingId, status })
      return handle(command, { stream: { collection: 'bookings', id: bookingId }, ...over })
    },
  }
}

export function rejection(promise: Promise<unknown>): Promise<unknown> {
  return promise.then(
    () => undefined,
    (error: unknown) => error,
  )
}

export function applied(handled: Handled<SeatState | undefined>) {
  if (handled.outcome !== 'applied') throw new Error(`it was ${handled.outcome}`)
  return handled
}
