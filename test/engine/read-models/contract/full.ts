import { beginningOf, entryId } from '../../../../src/engine/read-models/document.ts'
import type { Batch } from '../../../../src/engine/read-models/ports/projection.ts'
import { added, at, booking, firstBatch, rowOf, seat } from './samples.ts'
import { historyOf } from './values.ts'

const key = at('7', 'x')
export const keyedBooking = booking(8, [key])
/** Its entry in the keyed set. */
export const keyedEntry = entryId(beginningOf(key) ?? '', keyedBooking.id)

/** Puts something into sets of every kind. */
export function fullBatch(): Batch {
  const documents = added(seat(1, ['a', 'b']), seat(2, ['a']), booking(5, ['a'], '', '1'), keyedBooking)
  const texts = { rows: [rowOf('s', 129)], keys: ['k'], history: [historyOf('s', 0)], parked: ['parked'] }
  return firstBatch({ documents, ...texts, waiting: [['0/parked', '1,2']] })
}

/** Each set that it fills, with one of its entries. */
export const fullSets: ReadonlyMap<string, number | string> = new Map<string, number | string>([
  ...Object.entries({ seats: 1, 'seats:a': 2, 'seats:b': 1, bookings: 5, 'bookings:a': 5, 'bookings:n=': keyedEntry }),
  ...Object.entries({ rows: 's', keys: '0/k', history: '0/s', parked: 'parked', waiting: '0/parked' }),
])
