import { describe, expect, it, vi } from 'vitest'
import { encodeEntry } from '../../../src/engine/read-models/stored-texts.ts'
import { openProjection, outcomesOf, project, summary } from '../projector/projecting.ts'
import {
  type AnyRecord,
  altered,
  bookingEvent,
  discard,
  keyed,
  newerEvent,
  record,
  seatAdded,
} from '../projector/records.ts'

const created = (id: number, version = 1, key?: string) => {
  const event = seatAdded({ id }, { version })
  return key === undefined
    ? event
    : altered(event, { idempotencykey: key, requestfingerprint: `fingerprint of ${key}` })
}
const placed = (seatId: number, booking: number, version: number, key?: string) =>
  bookingEvent('BookingPlaced', seatId, booking, version, key === undefined ? {} : keyed(key))
const approved = (seatId: number, booking: number, version: number) =>
  bookingEvent('BookingApproved', seatId, booking, version)
const cancelled = (seatId: number, booking: number, version: number) =>
  bookingEvent('BookingCancelled', seatId, booking, version)

/** It waits behind an earlier one, so there is no reason of its own. */
const behind = undefined
const newer = 'type theatre.SeatMoved.v1 is unknown'

describe('an event of no stream is skipped', () => {
  const seat = created(1)
  it.each<[string, AnyRecord]>([
    ['no value', record(null, '1')],
    ['an empty value', record('', '1')],
    ['invalid UTF-8', record(Buffer.from([0xff, 0xfe]), '1')],
    ['invalid JSON', record('{"id":', '1')],
    ['JSON that is no object', record('[1]', '1')],
    ['another version of CloudEvents', altered(seat, { specversion: '0.3' })],
    ['no id', altered(seat, { id: undefined })],
    ['no type', altered(seat, { type: undefined })],
    ['no source', altered(seat, { source: '' })],
    ['no subject', altered(seat, { subject: undefined })],
    ['no record key', altered(seat, {}, null)],
    ['a subject that is not the key', altered(seat, { subject: '01' })],
    ['a key that is not UTF-8', altered(seat, { subject: '\ufffd' }, Buffer.from([0xff]))],
    ['a type of somebody else', altered(seat, { type: 'com.example.SeatAdded' })],
    ['a newer type without a version', newerEvent('1', undefined)],
    ['a newer type with a version that is text', newerEvent('1', '1')],
    ['a newer type with a version that is too large', newerEvent('1', 2 ** 53)],
    ['a discard that names no event', altered(discard('1', 0), { data: {} })],
    ['a discard that names what is no offset', altered(discard('1', 0), { data: { offset: -1 } })],
    ['a discard that names no event, with a version', altered(discard('1', 0), { data: {}, streamversion: 1 })],
  ])('%s', async (_, skipped) => {
    expect(await outcomesOf([skipped, seat])).toEqual(['skipped', 'applied'])
  })

  it('a partition other than that of its key', async () => {
    const events = [created(1), created(2), discard('2', 0), newerEvent('2', 1)]
    const outcomes = await outcomesOf(events, (key) => Number(key) - 1)
    expect(outcomes).toEqual(['applied', 'skipped', 'skipped', 'skipped'])
  })
})

describe('an event takes effect only with the next version of its stream', () => {
  it.each([[-1], [0], [1], [3], [2 ** 53], ['2'], [2.5], [null], [undefined]])(
    '%j is not the next one',
    async (version) => {
      const booking = altered(placed(5, 12, 2, 'key'), { streamversion: version })
      const unreadable = altered(booking, { data: { bookingId: 0 } })
      const log = [created(5), booking, unreadable, placed(5, 13, 2, 'key')]
      expect(await outcomesOf(log)).toEqual(['applied', 'superseded', 'superseded', 'applied'])
      const found = summary(await (await project(log)).read())
      expect(found).toMatchObject({
        seats: { 5: 'pending' },
        bookings: { 13: 'placed' },
        versions: { 5: 2 },
        keys: { key: 3 },
      })
    },
  )

  it('nor is any other the first one', async () => {
    const log = [created(5, 0), created(5, 2), placed(5, 12, 2), newerEvent('5', 2), created(5)]
    expect(await outcomesOf(log)).toEqual([...Array(4).fill('superseded'), 'applied'])
  })
})

interface Case {
  readonly what: string
  readonly log: readonly AnyRecord[]
  readonly outcomes: readonly string[]
  /** In the end, where it matters. */
  readonly ends: Partial<Record<keyof ReturnType<typeof summary>, unknown>>
}

const rules: Case[] = [
  {
    what: 'a rival came first: the first of one version takes effect',
    log: [created(5), placed(5, 12, 2), placed(5, 13, 2), cancelled(5, 12, 3), approved(5, 12, 3), placed(5, 13, 4)],
    outcomes: ['applied', 'applied', 'superseded', 'applied', 'superseded', 'applied'],
    ends: { seats: { 5: 'pending' }, bookings: { 12: 'cancelled', 13: 'placed' }, versions: { 5: 4 } },
  },
  {
    what: 'two creations of one seat: the second is no next version; as the next version it contradicts the first',
    log: [created(5), created(5), created(5, 2)],
    outcomes: ['applied', 'superseded', 'parked'],
    ends: { seats: { 5: 'available' }, versions: { 5: 1 }, parked: { 2: 'seat 5 exists already' } },
  },
  {
    what: 'a booking for a seat that never was is parked; before its seat it holds the seat up',
    log: [placed(5, 12, 1), created(5), placed(6, 12, 2)],
    outcomes: ['parked', 'parked', 'superseded'],
    ends: { seats: {}, bookings: {}, versions: {}, parked: { 0: 'there is no seat 5', 1: behind } },
  },
  {
    what: 'a transition that is none, and data or types that cannot be read',
    log: [
      ...[created(5), approved(5, 12, 2)],
      ...[created(6), altered(placed(6, 13, 2), { data: { bookingId: 0, seatId: 6 } })],
      ...[altered(created(7), { type: 'theatre.SeatAdded.v2' })],
      ...[newerEvent('a stream', 1), altered(created(8), { data: { id: 8 } })],
      altered(created(9), { streamversion: undefined, data: undefined }),
    ],
    outcomes: ['applied', 'parked', 'applied', 'parked', 'parked', 'parked', 'parked', 'parked'],
    ends: {
      seats: { 5: 'available', 6: 'available' },
      parked: {
        1: 'booking 12 is not the latest of seat 5',
        3: expect.stringMatching(/^data: bookingId must be at least 1/),
        4: 'type theatre.SeatAdded.v2 is unknown',
        5: newer,
        6: expect.stringMatching(/^data: name is required/),
        7: expect.stringMatching(/^data: /),
      },
    },
  },
  {
    what: 'a booking id is taken, by another seat, an earlier booking of the seat or its latest: its version and key stay free',
    log: [
      ...[created(5), created(6), placed(5, 12, 2), placed(6, 12, 2, 'k'), placed(6, 14, 2, 'k')],
      ...[cancelled(5, 12, 3), placed(5, 13, 4), cancelled(5, 13, 5), placed(5, 12, 6), placed(5, 13, 6, 'l')],
      ...[placed(5, 15, 6, 'l'), cancelled(5, 15, 7)],
    ],
    outcomes: [
      ...['applied', 'applied', 'applied', 'duplicate', 'applied'],
      ...['applied', 'applied', 'applied', 'duplicate', 'duplicate', 'applied', 'applied'],
    ],
    ends: {
      seats: { 5: 'available', 6: 'pending' },
      bookings: { 12: 'cancelled', 13: 'cancelled', 14: 'placed', 15: 'cancelled' },
      versions: { 5: 7, 6: 2 },
      keys: { k: 4, l: 10 },
    },
  },
  {
    what: 'a booking of a taken id that could not follow under any id is parked',
    log: [created(5), placed(5, 12, 2), placed(5, 12, 3)],
    outcomes: ['applied', 'applied', 'parked'],
    ends: { bookings: { 12: 'placed' }, parked: { 2: 'seat 5 is pending, not available' } },
  },
  {
    what: 'a seat in the stream of another: that one shows its own',
    log: [altered(created(5), { data: { id: 6, name: 'x', rowId: 1, status: 'sold' } }), created(6)],
    outcomes: ['parked', 'applied'],
    ends: { seats: { 6: 'available' }, parked: { 0: 'seats 6 belongs to the stream 6' } },
  },
  {
    what: 'later events of a stream park behind a parked one, whatever they say; other streams go on',
    log: [newerEvent('5', 1), created(5, 2), created(5), newerEvent('5', 7), discard('6', 0), created(6)],
    outcomes: ['parked', 'parked', 'parked', 'parked', 'superseded', 'applied'],
    ends: { seats: { 6: 'available' }, parked: { 0: newer, 1: behind, 2: behind, 3: behind } },
  },
  {
    what: 'the first event under an idempotency key decides it, and a duplicate leaves its stream as it was',
    log: [created(5, 1, 'k'), created(6, 1, 'k'), created(7, 1, 'l'), created(6), placed(7, 12, 2, 'k')],
    outcomes: ['applied', 'duplicate', 'applied', 'applied', 'duplicate'],
    ends: { seats: { 5: 'available', 6: 'available', 7: 'available' }, keys: { k: 0, l: 2 } },
  },
  {
    what: 'a parked event decides its key; one parked behind it or superseded does not',
    log: [
      ...[newerEvent('5', 1, { idempotencykey: 'k' }), created(6, 1, 'k'), created(5, 2, 'l'), created(7, 1, 'l')],
      ...[created(7, 1, 'm'), created(8, 1, 'm')],
    ],
    outcomes: ['parked', 'duplicate', 'parked', 'applied', 'superseded', 'applied'],
    ends: { keys: { k: 0, l: 3, m: 5 }, seats: { 7: 'available', 8: 'available' }, parked: { 0: newer, 2: behind } },
  },
  {
    what: 'an idempotency key that is no text counts as none',
    log: [altered(created(5), { idempotencykey: 7 }), altered(created(6), { idempotencykey: 7 })],
    outcomes: ['applied', 'applied'],
    ends: { keys: {} },
  },
  {
    what: 'idempotency keys that are stored as one are one',
    log: [created(5, 1, 'k\ud800'), created(6, 1, 'k\ud801')],
    outcomes: ['applied', 'duplicate'],
    ends: { keys: { 'k\ufffd': 0 } },
  },
]

const discards: Case[] = [
  {
    what: 'the only parked one: it keeps its version, and the next one follows',
    log: [created(5), newerEvent('5', 2), discard('5', 1), placed(5, 12, 2), placed(5, 12, 3)],
    outcomes: ['applied', 'parked', 'applied discarded', 'superseded', 'applied'],
    ends: { seats: { 5: 'pending' }, bookings: { 12: 'placed' }, versions: { 5: 3 }, parked: {} },
  },
  {
    what: 'the first of a stream without a seat: the seat comes later',
    log: [newerEvent('5', 1), discard('5', 0), created(5), created(5, 2)],
    outcomes: ['parked', 'applied discarded', 'superseded', 'applied'],
    ends: { seats: { 5: 'available' }, versions: { 5: 2 } },
  },
  {
    what: 'the first of a stream that no document can show',
    log: [newerEvent('a/b', 1), newerEvent('a/b', 2), discard('a/b', 0), discard('a/b', 1)],
    outcomes: ['parked', 'parked', 'applied discarded', 'applied discarded'],
    ends: { versions: { 'a/b': 2 }, parked: {} },
  },
  {
    what: 'those behind it take their turn, up to one that cannot be applied either',
    log: [
      ...[created(9, 1, 'k'), newerEvent('5', 1), created(5, 1), created(5, 2, 'k'), created(5, 2), newerEvent('5', 3)],
      ...[placed(5, 12, 4), discard('5', 1), discard('5', 5)],
    ],
    outcomes: [
      ...['applied', 'parked', 'parked', 'parked', 'parked', 'parked', 'parked'],
      ...['applied applied duplicate superseded discarded', 'applied applied discarded'],
    ],
    ends: { seats: { 5: 'pending', 9: 'available' }, bookings: { 12: 'placed' }, versions: { 5: 4, 9: 1 }, parked: {} },
  },
  {
    what: 'one in the middle, or what is not parked: nothing happens',
    log: [
      newerEvent('5', 1),
      created(5, 2),
      newerEvent('6', 1),
      ...[discard('5', 1), discard('6', 0), discard('7', 2)],
    ],
    outcomes: ['parked', 'parked', 'parked', 'superseded', 'superseded', 'superseded'],
    ends: { seats: {}, versions: {}, parked: { 0: newer, 1: behind, 2: newer } },
  },
  {
    what: 'twice, and before the event comes that is named',
    log: [discard('5', 1), newerEvent('5', 1), discard('5', 1), discard('5', 1)],
    outcomes: ['superseded', 'parked', 'applied discarded', 'superseded'],
    ends: { versions: { 5: 1 }, parked: {} },
  },
  {
    what: 'what parks again has another reason, and decides its key only then',
    log: [newerEvent('5', 1), placed(5, 12, 2, 'k'), created(6, 1, 'l'), discard('5', 0), created(7, 1, 'k')],
    outcomes: ['parked', 'parked', 'applied', 'applied discarded', 'duplicate'],
    ends: {
      seats: { 6: 'available' },
      versions: { 5: 1, 6: 1 },
      parked: { 1: 'there is no seat 5' },
      keys: { k: 1, l: 2 },
    },
  },
  {
    what: 'an id that another booking took meanwhile is lost to what was behind, which blocks nothing',
    log: [
      ...[created(5), created(6), newerEvent('5', 2), placed(5, 12, 3, 'k'), placed(5, 13, 3, 'k')],
      ...[placed(6, 12, 2), discard('5', 2)],
    ],
    outcomes: [
      ...['applied', 'applied', 'parked', 'parked', 'parked', 'applied'],
      'applied applied duplicate discarded',
    ],
    ends: { bookings: { 12: 'placed', 13: 'placed' }, versions: { 5: 3, 6: 2 }, keys: { k: 4 }, parked: {} },
  },
  {
    what: 'a key that another stream took meanwhile is lost to what was behind',
    log: [newerEvent('5', 1), created(5, 2, 'k'), created(6, 1, 'k'), discard('5', 0), created(5, 2)],
    outcomes: ['parked', 'parked', 'applied', 'applied duplicate discarded', 'applied'],
    ends: { seats: { 5: 'available', 6: 'available' }, keys: { k: 2 } },
  },
]

describe.each([
  { about: 'the rules', cases: rules },
  { about: 'an event is discarded', cases: discards },
])('$about', ({ cases }) => {
  it.each(cases)('$what', async ({ log, outcomes, ends }) => {
    expect(await outcomesOf(log)).toEqual(outcomes)
    const one = await (await project(log)).read()
    expect(summary(one)).toMatchObject(ends)
    expect(summary(one).parked).toEqual(ends.parked ?? {})
    for (const cut of log.keys()) expect(await (await project(log, [cut])).read()).toEqual(one)
    expect(await (await project(log, [...log.keys()])).read()).toEqual(one)
  })
})

describe('what is stored', () => {
  it('of a stream: its version, what has its last versions, and what no document shows', async () => {
    const turns = Array.from({ length: 6 }, (_, turn) => [
      placed(5, 20 + turn, 2 + 2 * turn),
      cancelled(5, 20 + turn, 3 + 2 * turn),
    ])
    const { read } = await project([created(5), ...turns.flat(), placed(5, 30, 2), approved(5, 20, 14)])
    const found = await read()
    const [, row] = found.documents.seats?.[0]?.[1].split('\0') ?? []
    const time = '2026-11-20T09:30:00.000Z'
    const entries = Array.from({ length: 13 }, (_, offset) => encodeEntry(offset, 'event'))
    const booking = { id: 25, seatId: 5, status: 'cancelled', placedAt: time, updatedAt: time }
    expect(row).toBe(`13 ${entries} \n${JSON.stringify({ booking })}`)
    expect([found.keys, found.history]).toEqual([[], []])
    expect(found.parked).toEqual([['5', '0 14 0 booking 20 is not the latest of seat 5']])
    expect(found.documents.bookings?.[0]?.[1].split('\0')[1]).toBe('5')
  })

  it('under a key: enough to give the first answer again', async () => {
    const { read } = await project([
      created(5, 1, 'k'),
      newerEvent('6', 1, { idempotencykey: 'l', requestfingerprint: 7 }),
    ])
    const { fingerprint, ...known } = {
      fingerprint: 'fingerprint of k',
      time: '2026-11-20T09:30:00.000Z',
      parked: false,
    }
    expect((await read()).keys).toEqual([
      { partition: 0, key: 'k', offset: 0, fingerprint, stream: '5', id: 5, version: 1, ...known },
      { partition: 0, key: 'l', offset: 1, fingerprint: '', stream: '6', id: 0, version: 1, time: '', parked: true },
    ])
  })

  it('is announced with the records that did not take effect', async () => {
    const { store, apply } = await openProjection()
    const progress = vi.fn()
    store.generations.listen({ progress, connected() {}, disconnected() {} })
    const takenUp = [newerEvent('5', 1), created(5, 2), discard('5', 0)]
    await apply([...takenUp, record('garbage'), created(6), created(6), discard('6', 4), newerEvent('6', 2)])
    const expected = { partition: 0, from: 0, next: 8, withoutEffect: [0, 3, 5, 6, 7] }
    expect(progress).toHaveBeenLastCalledWith('generation', expected)
  })

  it('a booking whose id belongs to another partition is parked', async () => {
    const { apply, read } = await openProjection((key) => (key === '12' ? 1 : 0))
    await apply([created(5), placed(5, 12, 2)])
    expect(summary(await read())).toMatchObject({
      bookings: {},
      parked: { 1: 'bookings 12 belongs to another partition' },
    })
  })
})
