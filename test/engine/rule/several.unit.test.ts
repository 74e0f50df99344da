import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { anyChanges, anyLog } from '../projector/any-log.ts'
import {
  documentsOf,
  everything,
  openProjection,
  outcomesOf,
  parkedIn,
  project,
  summary,
} from '../projector/projecting.ts'
import {
  type AnyRecord,
  altered,
  bookingEvent,
  discard,
  keyed,
  newerEvent,
  seatAdded,
  seatRemoved,
  several,
} from '../projector/records.ts'

const created = (id: number, version = 1) => seatAdded({ id }, { version })
const placed = (seat: number, booking: number, version: number) => bookingEvent('BookingPlaced', seat, booking, version)
const approved = (seat: number, booking: number, version: number) =>
  bookingEvent('BookingApproved', seat, booking, version)
const cancelled = (seat: number, booking: number, version: number) =>
  bookingEvent('BookingCancelled', seat, booking, version)

/** What is released and placed again, at once. */
const movedTo = (seat: number, from: number, to: number, version: number, key?: string) =>
  several([cancelled(seat, from, version), placed(seat, to, version)], key === undefined ? {} : attributesOf(key))
function attributesOf(key: string) {
  const { idempotency } = keyed(key)
  return { idempotencykey: idempotency?.key, requestfingerprint: idempotency?.fingerprint }
}
const newer = 'type theatre.SeatMoved.v1 is unknown'

interface Case {
  readonly what: string
  readonly log: readonly AnyRecord[]
  readonly outcomes: readonly string[]
  readonly ends: Partial<Record<keyof ReturnType<typeof summary>, unknown>>
}

const cases: Case[] = [
  {
    what: 'they have one version, and each of them shows its documents, also such as the next one shows no more',
    log: [created(5), several([placed(5, 12, 2), cancelled(5, 12, 2), placed(5, 13, 2)]), approved(5, 13, 3)],
    outcomes: ['applied', 'applied', 'applied'],
    ends: { seats: { 5: 'pending' }, bookings: { 12: 'cancelled', 13: 'approved' }, versions: { 5: 3 } },
  },
  {
    what: 'they begin a stream',
    log: [several([created(5), placed(5, 12, 1)]), cancelled(5, 12, 2)],
    outcomes: ['applied', 'applied'],
    ends: { seats: { 5: 'available' }, bookings: { 12: 'cancelled' }, versions: { 5: 2 } },
  },
  {
    what: 'they end one',
    log: [created(5), several([placed(5, 12, 2), cancelled(5, 12, 2), seatRemoved(5)], { streamversion: 2 })],
    outcomes: ['applied', 'applied'],
    ends: { seats: {}, bookings: { 12: 'cancelled' }, versions: { 5: 2 } },
  },
  {
    what: 'a rival came first: nothing of them takes effect',
    log: [created(5), placed(5, 12, 2), several([placed(5, 13, 2), cancelled(5, 13, 2), placed(5, 14, 2)])],
    outcomes: ['applied', 'applied', 'superseded'],
    ends: { bookings: { 12: 'placed' }, versions: { 5: 2 } },
  },
  {
    what: 'they came first: a rival of one event, or of several, does not take effect',
    log: [
      ...[created(5), placed(5, 12, 2), movedTo(5, 12, 13, 3)],
      ...[cancelled(5, 12, 3), movedTo(5, 12, 14, 3), movedTo(5, 13, 14, 4)],
    ],
    outcomes: ['applied', 'applied', 'applied', 'superseded', 'superseded', 'applied'],
    ends: { bookings: { 12: 'cancelled', 13: 'cancelled', 14: 'placed' }, versions: { 5: 4 } },
  },
  {
    what: 'one in the middle cannot follow: nothing of them takes effect, and the reason names it',
    log: [created(5), several([placed(5, 12, 2), approved(5, 99, 2), cancelled(5, 12, 2)], attributesOf('k'))],
    outcomes: ['applied', 'parked'],
    ends: {
      seats: { 5: 'available' },
      bookings: {},
      versions: { 5: 1 },
      parked: { 1: 'event 2 of 3: booking 99 is not the latest of seat 5' },
      keys: { k: 1 },
    },
  },
  {
    what: 'the last one cannot follow: a document that was there before is as it was',
    log: [created(5), placed(5, 12, 2), several([approved(5, 12, 3), created(5, 3)], { streamversion: 3 })],
    outcomes: ['applied', 'applied', 'parked'],
    ends: { bookings: { 12: 'placed' }, parked: { 2: 'event 2 of 2: seat 5 exists already' } },
  },
  {
    what: 'the first one begins the stream, and the last one cannot follow: it begins later',
    log: [several([created(5), approved(5, 12, 1)]), discard('5', 0), created(5, 2), placed(5, 12, 3)],
    outcomes: ['parked', 'applied discarded', 'applied', 'applied'],
    ends: { seats: { 5: 'pending' }, bookings: { 12: 'placed' }, versions: { 5: 3 } },
  },
  {
    what: 'the seat is removed before the last one: it is not removed',
    log: [
      created(5),
      several([seatRemoved(5), placed(5, 12, 2)], { streamversion: 2 }),
      discard('5', 1),
      placed(5, 12, 3),
    ],
    outcomes: ['applied', 'parked', 'applied discarded', 'applied'],
    ends: { seats: { 5: 'pending' }, bookings: { 12: 'placed' }, versions: { 5: 3 } },
  },
  {
    what: 'parked ones are discarded as one, and what waits behind them is released, several as one',
    log: [
      ...[created(5), several([placed(5, 12, 2), placed(5, 13, 2)]), placed(5, 12, 3), movedTo(5, 12, 13, 4)],
      discard('5', 1),
    ],
    outcomes: ['applied', 'parked', 'parked', 'parked', 'applied applied applied discarded'],
    ends: { seats: { 5: 'pending' }, bookings: { 12: 'cancelled', 13: 'placed' }, versions: { 5: 4 }, parked: {} },
  },
  {
    what: 'what is released goes on up to several that cannot follow',
    log: [created(5), newerEvent('5', 2), placed(5, 12, 3), movedTo(5, 13, 14, 4), placed(5, 15, 5), discard('5', 1)],
    outcomes: ['applied', 'parked', 'parked', 'parked', 'parked', 'applied applied discarded'],
    ends: {
      bookings: { 12: 'placed' },
      parked: { 3: 'event 1 of 2: booking 13 is not the latest of seat 5', 4: undefined },
    },
  },
  {
    what: 'the id of one is taken, by another seat or an earlier booking: version and key stay free',
    log: [
      ...[created(5), created(6), placed(6, 12, 2), placed(5, 13, 2), movedTo(5, 13, 12, 3, 'k')],
      ...[several([cancelled(5, 13, 3), placed(5, 14, 3), cancelled(5, 14, 3), placed(5, 13, 3)])],
      ...[movedTo(5, 13, 14, 3, 'k')],
    ],
    outcomes: ['applied', 'applied', 'applied', 'applied', 'duplicate', 'duplicate', 'applied'],
    ends: {
      bookings: { 12: 'placed', 13: 'cancelled', 14: 'placed' },
      versions: { 5: 3, 6: 2 },
      keys: { k: 6 },
    },
  },
  {
    what: 'two of them begin something under one id',
    log: [
      created(5),
      several([...[placed(5, 12, 2), cancelled(5, 12, 2), placed(5, 13, 2), cancelled(5, 13, 2)], placed(5, 12, 2)]),
      placed(5, 12, 2),
    ],
    outcomes: ['applied', 'duplicate', 'applied'],
    ends: { bookings: { 12: 'placed' }, versions: { 5: 2 } },
  },
  {
    what: 'the id of one is taken, and they could not follow under any',
    log: [created(5), created(6), placed(6, 12, 2), several([placed(5, 12, 2), approved(5, 13, 2)])],
    outcomes: ['applied', 'applied', 'applied', 'parked'],
    ends: { bookings: { 12: 'placed' }, parked: { 3: 'event 2 of 2: booking 13 is not the latest of seat 5' } },
  },
  {
    what: 'a key counts once for all of them',
    log: [created(5), placed(5, 12, 2), movedTo(5, 12, 13, 3, 'k'), movedTo(5, 13, 14, 4, 'k')],
    outcomes: ['applied', 'applied', 'applied', 'duplicate'],
    ends: { bookings: { 12: 'cancelled', 13: 'placed' }, versions: { 5: 3 }, keys: { k: 2 } },
  },
]

describe('several events in one record', () => {
  it.each(cases)('$what', async ({ log, outcomes, ends }) => {
    expect(await outcomesOf(log)).toEqual(outcomes)
    const one = await (await project(log)).read()
    expect(summary(one)).toMatchObject(ends)
    expect(summary(one).parked).toEqual(ends.parked ?? {})
    for (const cut of log.keys()) expect(await (await project(log, [cut])).read()).toEqual(one)
    expect(await (await project(log, [...log.keys()])).read()).toEqual(one)
  })
})

const [one, other] = [placed(5, 12, 2), cancelled(5, 12, 2)]
const listed = (events: unknown, attributes = {}) => altered(several([one, other]), { data: { events }, ...attributes })
const inside = (record: AnyRecord, id = 'inside') => ({ ...JSON.parse(String(record.value)), id })

describe('a record of several that cannot be read is parked, as any other', () => {
  it.each<[string, AnyRecord, RegExp | string]>([
    ['no list', altered(one, { type: 'theatre.Several.v1', data: {} }), /^data: events is required/],
    ['no data', altered(one, { type: 'theatre.Several.v1', data: undefined }), /^data: /],
    ['none', listed([]), /^data: events must/],
    ['one alone', listed([inside(one)]), /^data: events must/],
    ['one without an id', listed([inside(one), { ...inside(other), id: undefined }]), 'data: id is required'],
    ['one without a type', listed([inside(one), { id: 'b', data: {} }]), 'data: type is required'],
    ['one without data', listed([inside(one), { ...inside(other), data: undefined }]), 'data: data is required'],
    ['one that is no event', listed([inside(one), 7]), /^data: events.1 must/],
    ['two with one id', listed([inside(one), inside(other)]), 'data: two events have the id inside'],
    [
      'one inside another',
      several([one, several([one, other])]),
      'event 2 of 2: data: it cannot have the type theatre.Several.v1',
    ],
    [
      'a discard',
      several([one, discard('5', 0)]),
      'event 2 of 2: data: it cannot have the type theatre.EventDiscarded.v1',
    ],
    [
      'a type of somebody else',
      several([one, altered(other, { type: 'com.example.Cancelled' })]),
      'event 2 of 2: data: it cannot have the type com.example.Cancelled',
    ],
    [
      'data that its type refuses',
      several([one, altered(other, { data: {} }), one]),
      /^event 2 of 3: data: bookingId is/,
    ],
    ['an unknown type', several([one, newerEvent('5', 2, { data: {} }), other]), `event 2 of 3: ${newer}`],
    [
      'an unknown version of it',
      altered(several([one, other]), { type: 'theatre.Several.v2' }),
      /Several.v2 is unknown$/,
    ],
  ])('%s', async (_, bad, reason) => {
    const log = [created(5), bad, placed(5, 13, 3), discard('5', 1)]
    expect(await outcomesOf(log)).toEqual(['applied', 'parked', 'parked', 'applied applied discarded'])
    const before = summary(await (await project(log.slice(0, 2))).read())
    const said = typeof reason === 'string' ? reason : expect.stringMatching(reason)
    expect(before).toMatchObject({ seats: { 5: 'available' }, bookings: {}, versions: { 5: 1 }, parked: { 1: said } })
    expect(summary(await (await project(log)).read())).toMatchObject({ bookings: { 13: 'placed' }, versions: { 5: 3 } })
  })

  it('but it is skipped above 16 KiB, and superseded without a version', async () => {
    const long = several([one, altered(other, { data: { bookingId: 12, seatId: 5, x: 'x'.repeat(16_384) } })])
    const unversioned = altered(several([one, other]), { streamversion: undefined })
    const outcomes = ['applied', 'skipped', 'superseded', 'applied']
    expect(await outcomesOf([created(5), long, unversioned, several([one, other])])).toEqual(outcomes)
  })
})

/** What a request under a key is answered with again. */
async function createdBy(...log: readonly AnyRecord[]): Promise<number | undefined> {
  return (await (await project(log)).read()).keys[0]?.id
}

it('the first document that they show anew is what they created', async () => {
  const k = attributesOf('k')
  expect(await createdBy(several([created(5), placed(5, 12, 1)], k))).toBe(5)
  const again = several([placed(5, 12, 2), cancelled(5, 12, 2), placed(5, 13, 2)], k)
  expect(await createdBy(created(5), again)).toBe(12)
  expect(await createdBy(created(5), placed(5, 12, 2), several([approved(5, 12, 3), cancelled(5, 12, 3)], k))).toBe(5)
})

/** All that is shown, of every collection. */
async function shownAfter(log: readonly AnyRecord[]) {
  const projection = await project(log)
  const found = await projection.read()
  const states = await Promise.all(
    ['1', '2', '3', '4'].map(async (stream) => {
      const { row } = await projection.readModel.load({ stream })
      return row && [row.document, row.hidden, row.isRemoved]
    }),
  )
  return { seats: documentsOf(found, 'seats'), bookings: documentsOf(found, 'bookings'), sets: sizesOf(found), states }
}
function sizesOf({ sizes }: Awaited<ReturnType<Awaited<ReturnType<typeof project>>['read']>>) {
  return sizes.filter(([set]) => /^(seats|bookings)/.test(set))
}

it('several come to what they would come to one by one, or to nothing', async () => {
  const kinds = new Set<string>()
  await fc.assert(
    fc.asyncProperty(
      anyLog({ isSound: false }),
      fc.integer({ min: 1, max: 4 }),
      fc.nat(1000),
      fc.boolean(),
      async (drawn, stream, choice, isBegun) => {
        const before = await withoutParked(isBegun ? [created(stream), ...drawn] : drawn)
        const { row } = await (await project(before)).readModel.load({ stream: String(stream) })
        const version = (row?.version ?? 0) + 1
        const changes = anyChanges(choice, before, stream, false)
        const events = changes.map((each, i) => altered(each, { streamversion: version + i }))
        const all = several(events, { streamversion: version })
        const alone = (await outcomesOf([...before, ...events])).slice(before.length)
        const together = (await outcomesOf([...before, all])).at(-1) ?? ''
        kinds.add(together)
        const isWhole = alone.every((outcome) => outcome === 'applied')
        expect(together === 'applied').toBe(isWhole)
        expect(await shownAfter([...before, all])).toEqual(await shownAfter(isWhole ? [...before, ...events] : before))
      },
    ),
    { numRuns: 500 },
  )
  expect([...kinds].sort()).toEqual(['applied', 'duplicate', 'parked'])
})

/** The log, and what an operator appends until nothing is parked any more. */
async function withoutParked(log: readonly AnyRecord[]): Promise<AnyRecord[]> {
  const { store, apply } = await openProjection()
  const all = [...log]
  await apply(log)
  for (let found = await everything(store); found.parked.length > 0; found = await everything(store)) {
    const more = parkedIn(found).map(({ stream, offset }) => discard(stream, offset))
    await apply(more)
    all.push(...more)
  }
  return all
}
