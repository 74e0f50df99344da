import { type Static, Type } from 'typebox'
import {
  exactJson,
  IdTakenError,
  type Int64,
  Int64Schema,
  parseExactJson,
  Rejected,
  type Service,
  type Stream,
} from '../../../src/engine/index.ts'

/*
 * What the tests of the engine run on: a theatre whose seats are booked, one booking at a time. It has one of each thing
 * that the engine can do: a document of the stream's own and another one, a keyed first event and a keyed later one, an
 * event without a version, a removal, a state with a codec.
 */

export const seatStatuses = ['available', 'pending', 'sold'] as const
export const bookingStatuses = ['placed', 'approved', 'delivered', 'cancelled'] as const
export const idSchema = (description = 'The seat') =>
  Type.Integer({ format: 'int64', minimum: 1, maximum: Number.MAX_SAFE_INTEGER, description, examples: [1] })
export const SeatStatus = Type.Enum(seatStatuses, { type: 'string', title: 'SeatStatus' })
export const BookingStatus = Type.Enum(bookingStatuses, { type: 'string', title: 'BookingStatus' })
const name = Type.String({
  minLength: 1,
  maxLength: 128,
  pattern: '^\\s*\\S',
  format: 'well-formed',
  description: 'What the seat is called',
  examples: ['A1'],
  'x-rule': 'must be 1 to 128 characters of well-formed Unicode, not only white space',
})
const rowId = Int64Schema({ description: 'The row that the seat is in', examples: [7] })
const time = Type.String({ format: 'date-time' })

export const NewSeatSchema = Type.Object(
  { name, rowId, status: Type.Optional(SeatStatus) },
  { title: 'SeatInput', additionalProperties: false },
)
export const SeatSchema = Type.Object(
  { id: idSchema(), name, rowId, status: SeatStatus },
  { title: 'Seat', additionalProperties: false },
)
export const BookingSchema = Type.Object(
  { id: idSchema('The booking'), seatId: idSchema(), status: BookingStatus, placedAt: time, updatedAt: time },
  { title: 'Booking', additionalProperties: false },
)

export type Seat = Readonly<Static<typeof SeatSchema>>
export type NewSeat = Omit<Seat, 'id'>
export type Booking = Readonly<Static<typeof BookingSchema>>
export type BookingStatus = Booking['status']

/** A seat and its latest booking. */
export interface SeatState {
  readonly seat: Seat
  readonly booking?: Booking
  readonly isRemoved?: true
}

export interface BookingEvent<Type = `Booking${Capitalize<BookingStatus>}`> {
  readonly type: Type
  readonly bookingId: number
  readonly seatId: number
}

export type SeatEvent =
  | { readonly type: 'SeatAdded'; readonly seat: Seat }
  | { readonly type: 'SeatRemoved'; readonly seatId: number }
  | BookingEvent

export type SeatCommand =
  | { readonly type: 'addSeat'; readonly id: number; readonly newSeat: NewSeat }
  | { readonly type: 'removeSeat'; readonly id: number }
  | { readonly type: 'placeBooking'; readonly bookingId: number; readonly seatId: Int64 }
  | { readonly type: 'updateBooking'; readonly bookingId: number; readonly status: BookingStatus }

export const toNewSeat = (value: Static<typeof NewSeatSchema>): NewSeat => ({ status: 'available', ...value })
export const seatDocument = ({ id, name, rowId, status }: Seat) => exactJson({ id, name, rowId, status })
export const bookingDocument = (booking: Booking) => exactJson(booking)

/** The statuses that come before one, and what becomes of the seat. */
const steps: Readonly<Record<BookingStatus, { from: readonly BookingStatus[]; seat: Seat['status'] }>> = {
  placed: { from: [], seat: 'pending' },
  approved: { from: ['placed'], seat: 'pending' },
  delivered: { from: ['approved'], seat: 'sold' },
  cancelled: { from: ['placed', 'approved'], seat: 'available' },
}
const eventTo = (status: BookingStatus) =>
  `Booking${status.charAt(0).toUpperCase()}${status.slice(1)}` as BookingEvent['type']

export const errors = {
  seat_not_available: { status: 409, retry: 'yes', meaning: 'The seat is booked.' },
  booking_transition_invalid: { status: 409, retry: 'no', meaning: 'The booking is past that.' },
  unknown_seat: { status: 422, retry: 'no', meaning: 'There is no such seat.' },
} satisfies Service['errors']

type SeatError = keyof typeof errors | 'conflict'
type SeatStream = Stream<SeatState | undefined, SeatCommand, SeatEvent, SeatError>

export const decide: SeatStream['decide'] = (command, state) => {
  if (command.type === 'addSeat') {
    const { id, newSeat } = command
    if (state !== undefined) return new Rejected('conflict', `Seat ${id} exists already.`)
    return { type: 'SeatAdded', seat: { id, ...newSeat } }
  }
  if (command.type === 'removeSeat') {
    if (state?.isRemoved) return 'unchanged'
    return { type: 'SeatRemoved', seatId: command.id }
  }
  if (command.type === 'placeBooking') {
    const { bookingId, seatId } = command
    if (state === undefined) return new Rejected('unknown_seat', `There is no seat ${seatId}.`)
    const { seat, booking } = state
    if (seat.status === 'available') return { type: 'BookingPlaced', bookingId, seatId: seat.id }
    return new Rejected('seat_not_available', `Seat ${seat.id} is ${seat.status}: booking ${booking?.id} holds it.`)
  }
  const { bookingId, status } = command
  if (state?.booking === undefined) throw new Error(`a command about a booking without one: ${bookingId}`)
  const current = state.booking.id === bookingId ? state.booking.status : 'cancelled'
  if (current === status) return 'unchanged'
  if (!steps[status].from.includes(current)) {
    return new Rejected('booking_transition_invalid', `Booking ${bookingId} is ${current}, so never ${status}.`)
  }
  return { type: eventTo(status), bookingId, seatId: state.seat.id }
}

export const evolve: SeatStream['evolve'] = (state, { event, time }) => {
  if (event.type === 'SeatAdded') {
    if (state !== undefined) throw new Error(`seat ${event.seat.id} exists already`)
    return { seat: event.seat }
  }
  const { seatId } = event
  if (state === undefined) throw new Error(`there is no seat ${seatId}`)
  const { seat, booking } = state
  if (seatId !== seat.id) throw new Error(`the event is about seat ${seatId}`)
  if (state.isRemoved) throw new Error(`seat ${seatId} is removed`)
  if (event.type === 'SeatRemoved') return { ...state, isRemoved: true }
  const id = event.bookingId
  const status = bookingStatuses.find((one) => eventTo(one) === event.type) ?? 'placed'
  const changed = { ...seat, status: steps[status].seat }
  const at = new Date(time).toJSON()
  if (at === null) throw new Error(`not a time: ${JSON.stringify(time)}`)
  if (status === 'placed') {
    if (seat.status !== 'available') throw new Error(`seat ${seat.id} is ${seat.status}, not available`)
    if (booking?.id === id) throw new IdTakenError(`booking ${id} exists already`)
    return { seat: changed, booking: { id, seatId, status, placedAt: at, updatedAt: at } }
  }
  if (booking?.id !== id) throw new Error(`booking ${id} is not the latest of seat ${seat.id}`)
  if (!steps[status].from.includes(booking.status)) throw new Error(`booking ${id} is ${booking.status}`)
  return { seat: changed, booking: { ...booking, status, updatedAt: at > booking.updatedAt ? at : booking.updatedAt } }
}

/** The document of the seat, and behind it the rest. */
export const seatState: NonNullable<SeatStream['state']> = {
  write: (state) => (state ? `${seatDocument(state.seat)}\n${exactJson({ ...state, seat: undefined })}` : ''),
  read(text) {
    const [seat = '', rest = ''] = text.split('\n')
    return text === '' ? undefined : ({ seat: parseExactJson(seat), ...(parseExactJson(rest) as object) } as SeatState)
  },
}
