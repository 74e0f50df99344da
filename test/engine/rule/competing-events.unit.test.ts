import { describe, expect, it } from 'vitest'
import { outcomesOf } from '../projector/projecting.ts'
import { type AnyRecord, altered, bookingEvent, seatAdded } from '../projector/records.ts'

const [seat, booking] = [5, 12]
const created = seatAdded({ id: seat })
const placed = bookingEvent('BookingPlaced', seat, booking, 2)
const approved = bookingEvent('BookingApproved', seat, booking, 3)
const delivered = bookingEvent('BookingDelivered', seat, booking, 4)
const cancelled = bookingEvent('BookingCancelled', seat, booking, 4)

/** An event of each type, and the history that it can follow. */
const events: readonly [type: string, before: readonly AnyRecord[], event: AnyRecord][] = [
  ['SeatAdded', [], created],
  ['BookingPlaced', [created], placed],
  ['BookingApproved', [created, placed], approved],
  ['BookingDelivered', [created, placed, approved], delivered],
  ['BookingCancelled', [created, placed, approved], cancelled],
]

describe('an event that could follow, with a version that is not the next one, is superseded', () => {
  it.each(events)('%s', async (_, before, event) => {
    const next = before.length + 1
    const others = [next - 1, next + 1].map((streamversion) => altered(event, { streamversion }))
    const outcomes = await outcomesOf([...before, ...others, event])
    expect(outcomes.slice(before.length)).toEqual(['superseded', 'superseded', 'applied'])
  })
})
