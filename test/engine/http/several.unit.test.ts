import { expect, it } from 'vitest'
import type { Service } from '../../../src/engine/index.ts'
import { openInMemory } from '../../../src/engine/testing/index.ts'
import { decide, type SeatCommand, type SeatEvent, type SeatState } from '../theatre/seats.ts'
import { theatre } from '../theatre/theatre.ts'

const seatId = 1

/** What a booking is about is cancelled at once, and another one placed. */
function decideTwice(command: SeatCommand, state: SeatState | undefined) {
  if (command.type !== 'placeBooking' && command.type !== 'updateBooking') return decide(command, state)
  const { bookingId } = command
  const first = { type: 'BookingPlaced', bookingId, seatId } as const
  const events: SeatEvent[] = [
    { type: 'BookingCancelled', bookingId, seatId },
    { type: 'BookingPlaced', bookingId: bookingId + 1000, seatId },
  ]
  return command.type === 'placeBooking' ? [first, ...events] : events
}

const [seats] = theatre.service.streams
const service = { ...theatre.service, streams: [{ ...seats, decide: decideTwice }] } as unknown as Service

it('is answered with what an earlier event of the command left, where the state after the last has another one', async () => {
  await using house = await openInMemory({ service })
  await house.run('addSeat', { body: { name: 'A1', rowId: 7 } })
  const placed = await house.run('placeBooking', { body: { seatId } })
  expect(placed).toMatchObject({ status: 201, body: { id: 2, status: 'cancelled' } })
  expect(await house.find('bookings', 2)).toEqual(placed.body)
  const cancelled = await house.run('updateBooking', { id: 1002, body: { status: 'cancelled' } })
  expect(cancelled).toMatchObject({ status: 200, body: { id: 1002, status: 'cancelled' } })
  expect(await house.find('bookings', 1002)).toEqual(cancelled.body)
  expect(await house.find('bookings', 2002)).toMatchObject({ status: 'placed' })
})
