import fc from 'fast-check'
import { expect, it } from 'vitest'
import { eventColumns, shownTime } from '../../../src/engine/cli/event-columns.ts'

const header = ['EVENT', 'TIME', 'TYPE', 'SEAT', 'VERSION', 'OUTCOME']
const outcomeAt = (line: string) => line.search(/\S+$/)

function rowAt(time: string, seat = '7'): string[] {
  return ['0/12', time, 'theatre.SeatAdded.v1', seat, '1', 'applied']
}

it('the columns of events stay aligned, whatever their programs wrote as time', () => {
  const time = fc.oneof(
    fc.date({ noInvalidDate: true }).map((date) => date.toISOString()),
    fc.integer({ min: 0, max: 40 }).map((digits) => `2026-11-20T09:30:00.${'7'.repeat(digits)}+02:00`),
    fc.string({ unit: 'binary' }),
  )
  fc.assert(
    fc.property(fc.array(time), (times) => {
      const line = eventColumns()
      const expected = outcomeAt(line(header))
      for (const each of times) expect(outcomeAt(line(rowAt(each)))).toBe(expected)
    }),
  )
})

it('a time is shown as this service writes it, and a text that is none is cut', () => {
  expect(shownTime('2026-11-20T11:30:00.123456789+02:00')).toBe('2026-11-20T09:30:00.123Z')
  expect(shownTime('2026-11-20T09:30:00Z')).toBe('2026-11-20T09:30:00.000Z')
  expect(shownTime('on a Friday in November, long ago')).toBe('on a Friday in November…')
  expect(shownTime('')).toBe('')
})

it('a column grows with a wide cell, and the rows after it are aligned with it; one far too wide moves its own row', () => {
  const line = eventColumns()
  const before = outcomeAt(line(rowAt('')))
  const wide = outcomeAt(line(rowAt('', '9223372036854775807')))
  expect([wide, outcomeAt(line(rowAt('')))]).toEqual([before + 9, before + 9])
  line(rowAt('', 'x'.repeat(1000)))
  expect(outcomeAt(line(rowAt('')))).toBe(before + 30)
})
