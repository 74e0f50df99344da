import { AssertionError } from 'node:assert'
import { stripVTControlCharacters } from 'node:util'
import { describe, expect, it } from 'vitest'
import type { Document } from '../../../src/engine/door/stream.ts'
import { exactJson, IdTakenError } from '../../../src/engine/index.ts'
import { given } from '../../../src/engine/testing/index.ts'
import type { Booking, SeatCommand, SeatEvent, SeatState } from '../theatre/seats.ts'
import { seatStream as stream } from '../theatre/theatre.ts'
import { hallStream } from '../two-kinds.ts'

const seat = { id: 42, name: 'A12', rowId: 7, status: 'available' } as const
const added: SeatEvent = { type: 'SeatAdded', seat }
const placed: SeatEvent = { type: 'BookingPlaced', bookingId: 12, seatId: 42 }
const approved: SeatEvent = { ...placed, type: 'BookingApproved' }
const cancelled: SeatEvent = { ...placed, type: 'BookingCancelled' }
const removed: SeatEvent = { type: 'SeatRemoved', seatId: 42 }
const place: SeatCommand = { type: 'placeBooking', bookingId: 12, seatId: 42 }
const approve: SeatCommand = { type: 'updateBooking', bookingId: 12, status: 'approved' }
const remove: SeatCommand = { type: 'removeSeat', id: 42 }

const [first, third] = ['2026-01-01T00:00:02.000Z', '2026-01-01T00:00:03.000Z']
const booking = { id: 12, seatId: 42, status: 'placed', placedAt: first, updatedAt: first }

/** The error, and the words that a reader sees. */
function failureOf(act: () => unknown): { readonly error: AssertionError; readonly words: string } {
  try {
    act()
  } catch (error) {
    expect(error).toBeInstanceOf(AssertionError)
    return { error: error as AssertionError, words: stripVTControlCharacters((error as Error).message) }
  }
  return expect.fail('nothing failed')
}
const wordsOf = (act: () => unknown) => failureOf(act).words

describe('a service that is right', () => {
  it('is told from command to command', () => {
    given(stream)
      .when({ type: 'addSeat', id: 42, newSeat: { name: 'A12', rowId: 7, status: 'available' } })
      .gives(added)
      .when(place)
      .gives(placed)
      .when(approve)
      .gives(approved)
      .shows({ ...seat, status: 'pending' }, { ...booking, status: 'approved', updatedAt: third })
  })

  it('rejects, and leaves as it is', () => {
    given(stream).when(place).rejected('unknown_seat')
    given(stream, added, placed)
      .when(place)
      .rejected('seat_not_available', /booking 12 holds it/)
    given(stream, added, removed).when(remove).unchanged()
  })

  it('shows nothing at first, what is final for good, and nothing that is removed', () => {
    const other = { bookingId: 13, seatId: 42 }
    given(stream).shows()
    given(stream, added, placed, cancelled, { type: 'BookingPlaced', ...other }).shows(
      { ...seat, status: 'pending' },
      { ...booking, status: 'cancelled', updatedAt: third },
      { ...booking, id: 13, placedAt: '2026-01-01T00:00:04.000Z', updatedAt: '2026-01-01T00:00:04.000Z' },
    )
    given(stream, added, placed, cancelled, removed).shows({ ...booking, status: 'cancelled', updatedAt: third })
  })

  it('gives several events, which have one version, and take effect together', () => {
    const versions: number[] = []
    const both: typeof stream = {
      ...stream,
      decide: () => [placed, approved],
      evolve(state, recorded) {
        versions.push(recorded.version)
        return stream.evolve(state, recorded)
      },
    }
    const after = given(both, added).when(place).gives(placed, approved)
    after.shows({ ...seat, status: 'pending' }, { ...booking, status: 'approved' })
    expect(new Set(versions.slice(-2))).toEqual(new Set([2]))
    given(hallStream, { type: 'HallBuilt', id: 7, name: 'Large' }).shows({ id: 7, name: 'Large' })
  })

  it('may show its own document late, with all digits of its numbers', () => {
    const late = { ...stream, projections: [projection(({ booking }) => (booking ? [ownDocument] : []))] }
    const large: SeatEvent = { type: 'SeatAdded', seat: { ...seat, rowId: 9007199254740993n } }
    const lateSeat = given(late, large)
    lateSeat.shows()
    lateSeat.when(place).gives(placed).shows({ id: 42 })
    given(stream, large).shows({ ...seat, rowId: 9007199254740993n })
  })
})

function projection(documents: (state: SeatState) => readonly Document[]) {
  const of = (state: SeatState | undefined) => (state === undefined ? [] : documents(state))
  return { name: 'made up', version: 1, documents: of }
}
const document = (collection: string, id: number, json: string | null) => ({ collection, id, json })
const ownDocument = document('seats', 42, '{"id":42}')

describe('what a command should come to', () => {
  const { decide } = stream
  const asked = "{ type: 'placeBooking', bookingId: 12, seatId: 42 } after SeatAdded"
  const afterAdded = (...events: readonly SeatEvent[]) => given(stream, added, ...events)

  it('names where the events differ', () => {
    const wrong = { ...stream, decide: () => ({ ...placed, bookingId: 13 }) }
    const words = wordsOf(() => given(wrong, added).when(place).gives(placed))
    expect(words).toContain(`${asked} gave other events\n+ actual - expected\n`)
    expect(words).toMatch(/^\+ +bookingId: 13,\n- +bookingId: 12,$/m)
  })

  it('names an event that is missing, and one too many', () => {
    const wrong = { ...stream, decide: () => [placed, approved] }
    expect(wordsOf(() => given(wrong, added).when(place).gives(placed))).toMatch(/^\+ +type: 'BookingApproved'/m)
    given(wrong, added).when(place).gives(placed, approved)
    expect(wordsOf(() => afterAdded().when(place).gives(placed, approved))).toMatch(/^- +type: 'BookingApproved'/m)
  })

  it.each<[words: string, act: () => void]>([
    [
      `${asked}, BookingPlaced should give { type: 'BookingPlaced', bookingId: 12, seatId: 42 }, but it was rejected with seat_not_available: Seat 42 is pending: booking 12 holds it.`,
      () => afterAdded(placed).when(place).gives(placed),
    ],
    [
      "{ type: 'removeSeat', id: 42 } after SeatAdded, SeatRemoved should give { type: 'SeatRemoved', seatId: 42 }, but it changed nothing",
      () => afterAdded(removed).when(remove).gives(removed),
    ],
    [
      `${asked} should be rejected with seat_not_available, but it gave { type: 'BookingPlaced', bookingId: 12, seatId: 42 }`,
      () => afterAdded().when(place).rejected('seat_not_available'),
    ],
    [
      `after no event should be rejected with seat_not_available, but it was rejected with unknown_seat: There is no seat 42.`,
      () => given(stream).when(place).rejected('seat_not_available'),
    ],
    [
      'should be rejected with words like /seat 43/, but it was rejected with unknown_seat: There is no seat 42.',
      () =>
        given(stream)
          .when(place)
          .rejected('unknown_seat', /seat 43/),
    ],
    ['but it changed nothing', () => afterAdded(removed).when(remove).rejected('unknown_seat')],
    [
      `${asked} should change nothing, but it gave { type: 'BookingPlaced', bookingId: 12, seatId: 42 }`,
      () => afterAdded().when(place).unchanged(),
    ],
    ['should change nothing, but it was rejected with unknown_seat', () => given(stream).when(place).unchanged()],
  ])('is told in words: %s', (words, act) => expect(wordsOf(act)).toContain(words))

  it.each(['unchanged' as const, []])('is nothing for a decider that says %j', (decided) => {
    given({ ...stream, decide: () => decided }, added)
      .when(place)
      .unchanged()
  })

  it('is what a decider throws, as it was thrown', () => {
    const bug = new TypeError('seats is undefined')
    const wrong: typeof stream = {
      ...stream,
      decide() {
        throw bug
      },
    }
    expect(() => given(wrong).when(place)).toThrow(bug)
  })

  it('is told as of the line of the test, and can be compared by any framework', () => {
    for (const act of [
      () => given(stream, placed),
      () => given(stream).when(place).gives(placed),
      () => given(stream).when(place).unchanged(),
      () => given(stream).when(place).rejected('conflict'),
      () => given(stream).shows({}),
    ]) {
      const { error } = failureOf(act)
      expect(error.stack?.split('\n').find((line) => /^ +at /.test(line))).toContain('given.unit.test.ts')
    }
    const { error } = failureOf(() => given(stream).shows({ id: 1 }))
    expect([error.actual, error.expected, error.operator]).toEqual([[], [{ id: 1 }], 'deepStrictEqual'])
  })

  it('cannot be an event that evolve refuses, though it is the one that was expected', () => {
    const wrong = { ...stream, decide: () => approved }
    const words = wordsOf(() => given(wrong, added).when(place).gives(approved))
    expect(words).toContain(
      "{ type: 'BookingApproved', bookingId: 12, seatId: 42 }: evolve refuses it: booking 12 is not",
    )
  })

  it('cannot be several events of which one is refused, or which are too large together', () => {
    const twice = { ...stream, decide: () => [placed, placed] }
    const words = wordsOf(() => given(twice, added).when(place).gives(placed, placed))
    expect(words).toContain('evolve refuses it: seat 42 is pending')
    const note = { note: 'x'.repeat(9000) }
    const withNote = (event: SeatEvent): SeatEvent => ({ ...event, ...note })
    const [long, longer] = [withNote(placed), withNote(approved)]
    const large = { ...stream, decide: () => [long, longer] }
    const more = wordsOf(() => given(large, added).when(place).gives(long, longer))
    expect(more).toMatch(/it cannot be applied: The event of this request has 18\d{3} bytes, and may have 16384/)
  })

  it('cannot be an event that its schema refuses', () => {
    const bad = { ...placed, bookingId: 0 }
    const words = wordsOf(() =>
      given({ ...stream, decide: () => bad }, added)
        .when(place)
        .gives(bad),
    )
    expect(words).toContain('cannot be read: data: bookingId must be at least 1')
  })

  it('cannot be what a newer version says, before that is written', () => {
    const SeatAdded = { ...stream.events.SeatAdded, version: 2, writes: 1, earlier: {} }
    const wrong = { ...stream, decide, events: { ...stream.events, SeatAdded } }
    expect(wordsOf(() => given(wrong, added))).toContain('cannot be written: SeatAdded needs a newer version')
  })
})

describe('documents', () => {
  it('are compared with what can be found', () => {
    const words = wordsOf(() => given(stream, added, placed).shows({ ...seat, status: 'sold' }, booking))
    expect(words).toContain('other documents are shown after SeatAdded, BookingPlaced\n+ actual - expected')
    expect(words).toMatch(/^\+ +status: 'pending'\n- +status: 'sold'$/m)
  })

  it.each<[words: string, documents: (state: SeatState) => readonly Document[]]>([
    [
      'what it leads to cannot be shown: seats 42 does not begin with its id: {"name":"A12"}',
      () => [document('seats', 42, '{"name":"A12"}')],
    ],
    ['what it leads to cannot be shown: seats 42 is shown twice', () => [ownDocument, ownDocument]],
    [
      'it cannot be applied: seats 43 belongs to the stream 43',
      ({ booking }) => [ownDocument, ...(booking ? [document('seats', 43, '{"id":43}')] : [])],
    ],
    [
      'it cannot be applied: bookings 12 is not the document of the stream, and cannot be removed',
      ({ booking }) => [ownDocument, ...(booking ? [document('bookings', 12, null)] : [])],
    ],
    [
      'it cannot be applied: seats 42 is removed',
      ({ booking }) => [booking === undefined ? document('seats', 42, null) : ownDocument],
    ],
    [
      'it cannot be applied: a document has more than 262144 characters',
      () => [document('seats', 42, exactJson({ id: 42, text: 'x'.repeat(262_144) }))],
    ],
  ])('are refused as by the service: %s', (words, documents) => {
    const wrong = { ...stream, state: undefined as never, projections: [projection(documents)] }
    expect(wordsOf(() => given({ ...wrong, ...plainState }, added, placed))).toContain(words)
  })
})

const plainState = {
  state: { write: exactJson as (state: SeatState | undefined) => string, read: (text: string) => JSON.parse(text) },
}

describe('an event', () => {
  it.each<[words: string, event: object]>([
    ["{ type: 'SeatRemoved', seatId: 0 } cannot be read: data: seatId must be at least 1", { ...removed, seatId: 0 }],
    ["{ type: 'SeatPainted' }: it cannot be written: SeatPainted is no event of the service", { type: 'SeatPainted' }],
    ["{ type: 'SeatRemoved' } cannot be read: data: seatId is required", { type: 'SeatRemoved' }],
    ['SeatAdded has 20', { type: 'SeatAdded', seat: { ...seat, name: 'x'.repeat(20_000) } }],
    ['SeatRemoved is another event when it is read', { ...removed, seatId: 42n }],
  ])('that is none is refused: %s', (words, event) => {
    expect(wordsOf(() => given(stream, added, event as SeatEvent))).toContain(words)
  })

  it('that is another one when it is read is refused, and says where', () => {
    const SeatAdded = { ...stream.events.SeatAdded, write: () => exactJson({ ...seat, name: 'B1' }) }
    const words = wordsOf(() => given({ ...stream, events: { ...stream.events, SeatAdded } }, added))
    expect(words).toContain('SeatAdded is another event when it is read')
    expect(words).toMatch(/^\+ +name: 'B1',\n- +name: 'A12',$/m)
  })

  it('may leave out what is undefined', () => {
    given(stream, { ...added, note: undefined } as SeatEvent, placed)
      .when(approve)
      .gives(approved)
  })

  it('that cannot follow is refused, and the cause is what was thrown', () => {
    const { error, words } = failureOf(() => given(stream, added, placed, cancelled, placed))
    expect(words).toContain('seatId: 42 }: evolve refuses it: booking 12 exists already')
    expect(error.cause).toBeInstanceOf(IdTakenError)
  })

  it.each<[Date, SeatState]>([
    [new Date(0), { seat, booking: { ...booking, updatedAt: new Date(0) } as unknown as Booking }],
  ])('whose state is another one when it is read is refused: %s', (_, state) => {
    const words = wordsOf(() => given({ ...stream, ...plainState, evolve: () => state }, added))
    expect(words).toContain('the state after SeatAdded is another one when it is read')
    expect(words).toMatch(/^\+ +updatedAt: '1970-01-01T00:00:00.000Z'\n- +updatedAt: 1970-01-01T00:00:00.000Z$/m)
  })

  it('whose state is more than a stream may have is refused', () => {
    expect(wordsOf(() => given({ ...stream, stateMax: 40 }, added, placed))).toContain(
      'more than 40 characters of state',
    )
  })

  it('is evolved from what is stored, not from what was in memory', () => {
    const seen: unknown[] = []
    const noting: typeof stream = {
      ...stream,
      evolve(state, recorded) {
        seen.push(state)
        return stream.evolve(state, recorded)
      },
    }
    given(noting, added, placed)
    expect(seen.at(-1)).toEqual({ seat })
    expect((seen.at(-1) as SeatState).seat).not.toBe(seat)
  })
})

it('the compiler knows which events, commands and errors there are', () => {
  const wrong = () => [
    // @ts-expect-error: no such event
    given(stream, { type: 'SeatPainted' }),
    // @ts-expect-error: an event without a member
    given(stream, { type: 'SeatRemoved' }),
    // @ts-expect-error: no such command
    given(stream).when({ type: 'paintSeat' }),
    // @ts-expect-error: no such event
    given(stream).when(place).gives({ type: 'SeatPainted' }),
    // @ts-expect-error: that would be `unchanged`
    given(stream).when(place).gives(),
    // @ts-expect-error: no such error
    given(stream).when(place).rejected('seat_is_painted'),
  ]
  expect(wrong).toBeTypeOf('function')
})
