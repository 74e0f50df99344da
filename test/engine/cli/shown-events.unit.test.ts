import { expect, it } from 'vitest'
import { eventJson, eventRows } from '../../../src/engine/cli/shown-events.ts'
import { readEvent } from '../../../src/engine/rule/stream-event.ts'
import { type AnyRecord, bookingEvent, logOf, seatAdded, several } from '../projector/records.ts'
import { theatre } from '../theatre/theatre.ts'

function settled(record: AnyRecord) {
  const [found] = logOf([record], 12)
  if (found === undefined) throw new Error('there is no record')
  return {
    record: found,
    event: readEvent({ definition: theatre, log: { partitionFor: () => 0 } }, 0, found),
    outcome: 'applied',
  } as const
}
const booked = several([bookingEvent('BookingPlaced', 7, 9, 2), bookingEvent('BookingCancelled', 7, 9, 2)])

it('a record of several events is one row, which names them', () => {
  const { row } = eventRows(theatre)
  expect(row(0, settled(booked)).split(/ {2,}/)).toEqual([
    ...[
      '0/12',
      '2026-11-20T09:30:00.000Z',
      'theatre.Several.v1 (BookingPlaced, BookingCancelled)',
      '7',
      '2',
      'applied',
    ],
  ])
  expect(row(0, settled(seatAdded({ id: 7 })))).toMatch(/Z {2}theatre\.SeatAdded\.v1 +7 /)
  const unreadable = several([seatAdded({ id: 7 })])
  expect(row(0, settled(unreadable))).toMatch(/Z {2}theatre\.Several\.v1 +7 /)
})

it('a record of several events is one line of JSON, as it stands in the log', () => {
  expect(JSON.parse(eventJson(0, settled(booked))).event).toEqual(JSON.parse(String(booked.value)))
})
