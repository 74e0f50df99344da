import { Type } from 'typebox'
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
export type SeatStatus = (typeof seatStatuses)[number]
export type BookingStatus = (typeof bookingStatuses)[number]
export type SeatId = number & { readonly brand: 'SeatId' }
export type BookingId = number & { readonly brand: 'BookingId' }

export interface NewSeat {
  readonly name: string
  readonly rowId: Int64
  readonly status: SeatStatus
}

export interface Seat extends NewSeat {
  readonly id: SeatId
}

export interface Booking {
  readonly id: BookingId
  readonly seatId: SeatId
  readonly status: BookingStatus
  readonly placedAt: string
  readonly updatedAt: string
}

/** A seat and its latest booking. */
export interface SeatState {
  readonly seat: Seat
  readonly booking: Booking | undefined
  readonly isRemoved?: true
}

export interface BookingEvent<Type = 'BookingPlaced' | 'BookingApproved' | 'BookingDelivered' | 'BookingCancelled'> {
  readonly type: Type
  readonly bookingId: BookingId
  readonly seatId: SeatId
}

export type SeatEvent =
  | { readonly type: 'SeatAdded'; readonly seat: Seat }
  | { readonly type: 'SeatRemoved'; readonly seatId: SeatId }
  | BookingEvent<'BookingPlaced'>
  | BookingEvent<'BookingApproved'>
  | BookingEvent<'BookingDelivered'>
  | BookingEvent<'BookingCancelled'>

export type SeatCommand =
  | { readonly type: 'addSeat'; readonly id: SeatId; readonly newSeat: NewSeat }
  | { readonly type: 'removeSeat'; readonly id: SeatId }
  | { readonly type: 'placeBooking'; readonly bookingId: BookingId; readonly seatId: Int64 }
  | { readonly type: 'updateBooking'; readonly bookingId: BookingId; readonly status: BookingStatus }

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

export const toNewSeat = (value: Omit<NewSeat, 'status'> & { status?: SeatStatus }): NewSeat => ({
  ...value,
  status: value.status ?? 'available',
})
export const seatDocument = ({ id, name, rowId, status }: Seat) => exactJson({ id, name, rowId, status })
export const bookingDocument = ({ id, seatId, status, placedAt, updatedAt }: Booking) =>
  exactJson({ id, seatId, status, placedAt, updatedAt })

const steps: Readonly<
  Record<BookingStatus, { event: BookingEvent['type']; from: readonly BookingStatus[]; seat: SeatStatus }>
> = {
  placed: { event: 'BookingPlaced', from: [], seat: 'pending' },
  approved: { event: 'BookingApproved', from: ['placed'], seat: 'pending' },
  delivered: { event: 'BookingDelivered', from: ['approved'], seat: 'sold' },
  cancelled: { event: 'BookingCancelled', from: ['placed', 'approved'], seat: 'available' },
}

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
  return { type: steps[status].event, bookingId, seatId: state.seat.id }
}

export const evolve: SeatStream['evolve'] = (state, { event, time }) => {
  if (event.type === 'SeatAdded') {
    if (state !== undefined) throw new Error(`seat ${event.seat.id} exists already`)
    return { seat: event.seat, booking: undefined }
  }
  const { seatId } = event
  if (state === undefined) throw new Error(`there is no seat ${seatId}`)
  const { seat, booking } = state
  if (seatId !== seat.id) throw new Error(`the event is about seat ${seatId}`)
  if (state.isRemoved) throw new Error(`seat ${seatId} is removed`)
  if (event.type === 'SeatRemoved') return { ...state, isRemoved: true }
  const id = event.bookingId
  const status = bookingStatuses.find((one) => steps[one].event === event.type) ?? 'placed'
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

/** The document of the seat, and behind it the booking. */
export const seatState: NonNullable<SeatStream['state']> = {
  write(state) {
    if (state === undefined) return ''
    const { id, status, placedAt, updatedAt } = state.booking ?? {}
    const words = [...(state.booking ? [id, status, placedAt, updatedAt] : []), ...(state.isRemoved ? ['removed'] : [])]
    return seatDocument(state.seat) + words.join(' ')
  },
  read(text) {
    if (text === '') return undefined
    const end = text.lastIndexOf('}') + 1
    const seat = parseExactJson(text.slice(0, end)) as Seat
    const [id, status, placedAt = '', updatedAt = ''] = text.slice(end).split(' ')
    const removed = text.endsWith('removed') ? ({ isRemoved: true } as const) : {}
    if (status === undefined) return { seat, booking: undefined, ...removed }
    const booking = {
      id: Number(id) as BookingId,
      seatId: seat.id,
      status: status as BookingStatus,
      placedAt,
      updatedAt,
    }
    return { seat, booking, ...removed }
  },
}
