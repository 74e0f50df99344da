import { Type } from 'typebox'
import { idempotency } from '../../../src/engine/commands/idempotency.ts'
import { type Definition, define } from '../../../src/engine/definition/definition.ts'
import type { EventContext } from '../../../src/engine/definition/event-codec.ts'
import type { Kind, StreamDefinition } from '../../../src/engine/definition/kinds.ts'
import type { Service } from '../../../src/engine/door/service.ts'
import type { EventType } from '../../../src/engine/door/stream.ts'
import { command, defineService, Int64Schema, stream } from '../../../src/engine/index.ts'
import type { NewRecord } from '../../../src/engine/log/event-log.ts'
import {
  type Booking,
  type BookingEvent,
  BookingSchema,
  BookingStatus,
  bookingDocument,
  decide,
  errors,
  evolve,
  idSchema,
  type NewSeat,
  NewSeatSchema,
  type Seat,
  type SeatCommand,
  type SeatEvent,
  SeatSchema,
  type SeatState,
  SeatStatus,
  seatDocument,
  seatState,
  toNewSeat,
} from './seats.ts'

/** With an example of it, which gives seat 42 this version. */
function eventType<Event extends SeatEvent>(
  version: number,
  event: Event,
  data: EventType<Event>['data'],
  isKeyed = false,
): EventType<Event> {
  const name = event.type.charAt(0).toLowerCase() + event.type.slice(1)
  const example = { name, summary: name, stream: 42, version, event }
  const keyed = isKeyed ? [{ ...example, name: `${name}Once`, isKeyed } as const] : []
  return { version: 1, description: name, data, examples: [example, ...keyed] }
}

function ofBooking<Type extends BookingEvent['type']>(type: Type, version: number, isKeyed = false) {
  const data = Type.Object({ bookingId: idSchema('The booking'), seatId: idSchema() }, { title: 'BookingEventData' })
  return eventType(version, { type, bookingId: 12, seatId: 42 }, data, isKeyed)
}

const added = { type: 'SeatAdded', seat: { id: 42, name: 'A12', rowId: 7, status: 'available' } } as const
const removed = { type: 'SeatRemoved', seatId: 42 } as const

const addSeat = command({
  method: 'POST',
  path: '/v1/seats',
  scope: 'write',
  texts: { operationId: 'addSeat', summary: 'Add a seat' },
  body: NewSeatSchema,
  on: 'new',
  creates: 'seats',
  rejects: {},
  command: ({ id, body }): SeatCommand => ({ type: 'addSeat', id, newSeat: toNewSeat(body) }),
  key: {
    text: 'get the seat of the first',
    scope: () => [],
    content(body) {
      const { name, rowId, status } = toNewSeat(body)
      return [name, String(rowId), status]
    },
    again: ({ id }, body) => seatDocument({ id, ...toNewSeat(body) }),
  },
})

const removeSeat = command({
  method: 'DELETE',
  path: '/v1/seats/:seatId',
  scope: 'write',
  texts: { operationId: 'removeSeat', summary: 'Remove a seat' },
  on: { document: 'seats' },
  rejects: {},
  command: ({ id }): SeatCommand => ({ type: 'removeSeat', id }),
})

const placeBooking = command({
  method: 'POST',
  path: '/v1/bookings',
  scope: 'bookings',
  texts: { operationId: 'placeBooking', summary: 'Book a seat' },
  body: Type.Object(
    { seatId: Int64Schema({ description: 'The seat', examples: [1] }) },
    { title: 'BookingInput', additionalProperties: false },
  ),
  on: { stream: ({ seatId }) => seatId },
  creates: 'bookings',
  rejects: { seat_not_available: 'Seat 1 is pending: booking 11 holds it.', unknown_seat: 'There is no seat 1.' },
  command: ({ id, body: { seatId } }): SeatCommand => ({ type: 'placeBooking', bookingId: id, seatId }),
  key: {
    text: 'for the same seat get the booking of the first',
    scope: ({ seatId }) => ['placeBooking', String(seatId)],
    content: ({ seatId }) => [String(seatId)],
    again({ id, time }, { seatId }) {
      const at = new Date(time).toISOString()
      return bookingDocument({ id, seatId: Number(seatId), status: 'placed', placedAt: at, updatedAt: at })
    },
  },
})

const updateBooking = command({
  method: 'PATCH',
  path: '/v1/bookings/:bookingId',
  scope: 'bookings',
  texts: { operationId: 'updateBooking', summary: 'Change the status of a booking' },
  body: Type.Object(
    { status: BookingStatus },
    { title: 'BookingChange', additionalProperties: false, examples: [{ status: 'approved' }] },
  ),
  on: { document: 'bookings' },
  rejects: { booking_transition_invalid: 'Booking 2 is delivered, so never cancelled.' },
  command: ({ id, body: { status } }): SeatCommand => ({ type: 'updateBooking', bookingId: id, status }),
})

const booking = { id: 2, seatId: 1, status: 'approved' }
const times = { placedAt: '2026-11-20T09:30:00.000Z', updatedAt: '2026-11-20T10:15:00.000Z' }

const resources = {
  seats: {
    path: '/v1/seats',
    noun: 'seat',
    tag: { name: 'seats', description: 'The seats of the house' },
    schema: SeatSchema,
    example: { id: 1, name: 'A12', rowId: 7, status: 'available' },
    filters: { status: SeatStatus },
    list: { operationId: 'listSeats', summary: 'List all seats' },
    find: { operationId: 'getSeat', summary: 'Get a seat', deprecated: '2026-11-20', sunset: '2030-12-05' },
    history: { operationId: 'listSeatEvents', summary: 'List the events of a seat' },
  },
  bookings: {
    path: '/v1/bookings',
    noun: 'booking',
    tag: { name: 'bookings', description: 'Bookings of seats' },
    isBeta: true,
    schema: BookingSchema,
    example: { ...booking, ...times },
    filters: { status: BookingStatus },
    list: { operationId: 'listBookings', summary: 'List all bookings' },
    find: { operationId: 'getBooking', summary: 'Get a booking' },
  },
} satisfies Service['resources']

const shownSeat = ({ seat, isRemoved }: SeatState) => shown('seats', seat, isRemoved ? null : seatDocument(seat))

export const seatStream = stream({
  collection: 'seats',
  source: '/v1/seats',
  initial: undefined,
  decide,
  evolve,
  state: seatState,
  events: {
    SeatAdded: {
      ...eventType(1, added, SeatSchema, true),
      isUnversioned: true,
      write: ({ seat }) => seatDocument(seat),
      read: (seat) => ({ type: 'SeatAdded', seat: seat as Seat }),
    },
    BookingPlaced: ofBooking('BookingPlaced', 2, true),
    BookingApproved: ofBooking('BookingApproved', 3),
    BookingDelivered: ofBooking('BookingDelivered', 4),
    BookingCancelled: ofBooking('BookingCancelled', 3),
    SeatRemoved: eventType(5, removed, Type.Object({ seatId: idSchema() }, { title: 'SeatRemovedData' })),
  },
  projections: [
    { name: 'seats', version: 1, documents: (state) => (state ? [shownSeat(state)] : []) },
    {
      name: 'bookings',
      version: 1,
      documents: (state) => (state?.booking ? [shown('bookings', state.booking, bookingDocument(state.booking))] : []),
    },
  ],
  commands: [addSeat, removeSeat, placeBooking, updateBooking],
})

const service = defineService({
  name: 'theatre',
  title: 'Theatre',
  version: '1.0.0',
  description: 'Seats that are booked.',
  streams: [seatStream],
  resources,
  errors,
  cli: [{ name: 'paint', summary: 'Paint the seats', run: paint }],
})

async function paint([colour = '']: readonly string[]): Promise<string> {
  if (colour === '') throw new RangeError('say which colour')
  return `The seats are ${colour}.`
}

function shown(collection: string, { id, status }: Pick<Seat | Booking, 'id' | 'status'>, json: string | null) {
  return { collection, id, json, filters: { status } }
}
/** The theatre, as the engine has it. */
const definition = define(service.service)
export const theatre = { ...definition, ...definition.kinds[0] } as unknown as Definition &
  Omit<Kind, keyof StreamDefinition> &
  StreamDefinition<SeatState | undefined, SeatCommand, SeatEvent>

export function encodeEvent(event: SeatEvent, context: Omit<EventContext, 'stream'>): NewRecord {
  const stream = String(event.type === 'SeatAdded' ? event.seat.id : event.seatId)
  return theatre.events.encode([event], { stream, ...context })
}

/** What is stored of a state besides the document of the seat. */
export function hiddenOf(state: SeatState | undefined): string {
  return theatre.codec.hidden(state, state && !state.isRemoved ? seatDocument(state.seat) : undefined)
}

// As the log has them, said here once more.
export const addSeatIdempotency = (owner: string, key: string, { name, rowId, status }: NewSeat) =>
  idempotency([owner, key], [name, String(rowId), status])

export const placeBookingIdempotency = (owner: string, key: string, seatId: number) =>
  idempotency([owner, key, 'placeBooking', String(seatId)], [String(seatId)])
