import fc from 'fast-check'
import { expect, it } from 'vitest'
import { eventIdOf, idempotency } from '../../../src/engine/commands/idempotency.ts'
import { anyCharacter } from '../../lib/any-character.ts'
import { type NewSeat, seatStatuses } from '../theatre/seats.ts'
import { addSeatIdempotency, placeBookingIdempotency } from '../theatre/theatre.ts'

const seat = fc.record<NewSeat>({
  name: fc.string({ unit: anyCharacter, minLength: 1, maxLength: 8 }),
  rowId: fc.bigInt({ min: -3n, max: 3n }),
  status: fc.constantFrom(...seatStatuses),
})
const text = fc.string({ minLength: 1, maxLength: 4 })
const a12: NewSeat = { name: 'A12', rowId: 7, status: 'sold' }

it('is one exactly for one API key and Idempotency-Key, and its fingerprint for one seat', () => {
  fc.assert(
    fc.property(text, text, seat, text, text, seat, (apiKey, key, newSeat, otherApiKey, otherKey, otherSeat) => {
      const first = addSeatIdempotency(apiKey, key, newSeat)
      const second = addSeatIdempotency(otherApiKey, otherKey, otherSeat)
      expect(addSeatIdempotency(apiKey, key, { ...newSeat })).toEqual(first)
      expect(first.key === second.key).toBe(apiKey === otherApiKey && key === otherKey)
      expect(first.fingerprint === second.fingerprint).toBe(
        newSeat.name === otherSeat.name && newSeat.rowId === otherSeat.rowId && newSeat.status === otherSeat.status,
      )
      expect(eventIdOf(first) === eventIdOf(second)).toBe(first.key === second.key)
    }),
  )
})

it('is another one for a booking, and for each seat that is booked', () => {
  const booking = (seatId: number) => placeBookingIdempotency('api-key-id', 'once', seatId)
  const keys = [addSeatIdempotency('api-key-id', 'once', a12), booking(42), booking(43)].map(({ key }) => key)
  expect(new Set(keys).size).toBe(3)
})

it('cannot be moved between the parts of its scope', () => {
  expect(idempotency(['ab', 'c'], []).key).not.toBe(idempotency(['a', 'bc'], []).key)
})
