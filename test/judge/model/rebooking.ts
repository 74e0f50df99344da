import { define } from '../../../src/engine/definition/definition.ts'
import { stream } from '../../../src/engine/index.ts'
import type { SeatCommand, SeatEvent, SeatState } from '../../engine/theatre/seats.ts'
import { seatStream, theatre } from '../../engine/theatre/theatre.ts'

type Decided = ReturnType<typeof seatStream.decide>

/** What ends the booking that holds the seat. */
function ending(state: SeatState): readonly SeatEvent[] {
  const { seat, booking } = state
  const isOpen = booking?.status === 'placed' || booking?.status === 'approved'
  return isOpen ? [{ type: 'BookingCancelled', bookingId: booking.id, seatId: seat.id }] : []
}

/** The theatre, where the next one who books a seat takes it over from the one who has it: two events of one command. */
export const rebooking = define({
  ...theatre.service,
  streams: [
    stream({
      ...seatStream,
      decide(command: SeatCommand, state: SeatState | undefined): Decided {
        if (command.type === 'placeBooking' && state?.isRemoved) return seatStream.decide(command, undefined)
        const isEnd = command.type === 'placeBooking' || command.type === 'removeSeat'
        const before = isEnd && state !== undefined && !state.isRemoved ? ending(state) : []
        const decided = seatStream.decide(command, state && before.length > 0 ? freed(state) : state)
        return before.length > 0 && typeof decided === 'object' && 'type' in decided ? [...before, decided] : decided
      },
    }),
  ],
})

function freed(state: SeatState): SeatState {
  return { ...state, seat: { ...state.seat, status: 'available' } }
}
