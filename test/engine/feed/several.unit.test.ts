import { describe, expect, it, onTestFinished } from 'vitest'
import { EventFeed, type FeedQuery } from '../../../src/engine/feed/event-feed.ts'
import type { HistoryPlace } from '../../../src/engine/feed/histories.ts'
import type { Position } from '../../../src/engine/log/event-log.ts'
import { openProjection } from '../projector/projecting.ts'
import {
  type AnyRecord,
  altered,
  bookingEvent,
  discard,
  keyed,
  newerEvent,
  seatAdded,
  several,
} from '../projector/records.ts'
import { theatre } from '../theatre/theatre.ts'
import { account, reader } from './readers.ts'

/** A feed of a log all of which is applied. */
async function openFeed(records: readonly AnyRecord[]) {
  const { log, readModel, apply } = await openProjection()
  await apply(records)
  const feed = new EventFeed({
    definition: theatre,
    log: { ...log, partitions: 1 },
    readModel: { ...readModel, whenApplied: async ({ offset }) => (offset < records.length ? 'unheard' : 'late') },
    placeEveryMs: 0,
  })
  onTestFinished(() => feed.close())
  return feed
}

/** One record of two bookings, each placed and cancelled. */
function booked(seatId: number, version: number, eventId = `record ${seatId}/${version}`): AnyRecord {
  const bookingId = 1000 * seatId + version
  const records = (['BookingPlaced', 'BookingCancelled'] as const).map((type) =>
    bookingEvent(type, seatId, bookingId, version, { eventId, ...keyed(eventId) }),
  )
  const replaced = bookingEvent('BookingPlaced', seatId, bookingId + 500, version, { eventId })
  const undone = bookingEvent('BookingCancelled', seatId, bookingId + 500, version, { eventId })
  return several([...records, replaced, undone], { id: eventId })
}

/** What is to be told of a record. */
function toldOf({ value }: AnyRecord): readonly object[] {
  const { idempotencykey: _, requestfingerprint: __, ...shown } = JSON.parse(String(value))
  if (shown.type !== 'theatre.Several.v1') return [shown]
  return shown.data.events.map((own: object, streamindex: number) => ({ ...shown, ...own, streamindex }))
}

const log = [
  seatAdded({ id: 1 }),
  booked(1, 2),
  seatAdded({ id: 2 }, { eventId: 'another' }),
  booked(1, 3),
  bookingEvent('BookingPlaced', 1, 7000, 4),
]
const ofSeat = [0, 1, 3, 4].flatMap((i) => toldOf(log[i] as AnyRecord))
const parsed = (texts: readonly string[]) => texts.map((text) => JSON.parse(text))

describe('a history', () => {
  it('tells each event once, however many a page has, and goes on inside a record', async () => {
    const feed = await openFeed(log)
    for (let limit = 1; limit <= ofSeat.length + 1; limit++) {
      const pages: object[][] = []
      let after: HistoryPlace | undefined
      do {
        const page = await feed.history('1', { after, limit }, reader)
        pages.push(parsed(page.events))
        after = page.last
      } while (after !== undefined)
      expect(pages.flat()).toEqual(ofSeat)
      for (const page of pages.slice(0, -1)) expect(page).toHaveLength(limit)
    }
  })

  it.each([
    [{ version: 1 }, 1],
    [{ version: 2, index: 0 }, 2],
    [{ version: 2, index: 2 }, 4],
    [{ version: 2, index: 3 }, 5],
    [{ version: 2, index: 99_999 }, 5],
    [{ version: 2 }, 5],
    [{ version: 4, index: 0 }, 10],
  ])('goes on behind %j', async (after, from) => {
    const { events, last } = await (await openFeed(log)).history('1', { after, limit: 3 }, reader)
    expect(parsed(events)).toEqual(ofSeat.slice(from, from + 3))
    expect(last === undefined).toBe(from + 3 >= ofSeat.length)
  })

  it('has none of a record that was discarded', async () => {
    const lacking = several([bookingEvent('BookingPlaced', 1, 12, 2), bookingEvent('BookingDelivered', 1, 12, 2)])
    const feed = await openFeed([seatAdded({ id: 1 }), lacking, booked(1, 3), discard('1', 1)])
    const { events } = await feed.history('1', { limit: 100 }, reader)
    expect(parsed(events)).toEqual([seatAdded({ id: 1 }), booked(1, 3)].flatMap(toldOf))
  })
})

describe('the feed', () => {
  /** Follows up to the end; breaks off behind the `heard`th event of each step, and goes on from the last step that was whole. */
  async function hear(records: readonly AnyRecord[], query: Partial<FeedQuery>, heard = Number.POSITIVE_INFINITY) {
    const feed = await openFeed(records)
    const told: { streamindex?: number }[] = []
    const broken = new Set<number>()
    let after: readonly Position[] = []
    while (after[0]?.offset !== records.length - 1) {
      const left = new AbortController()
      for await (const step of await feed.follow({ ...query, after }, account, left.signal)) {
        const offset = step.after[0]?.offset ?? -1
        const isBroken = step.events.length > heard && !broken.has(offset)
        told.push(...parsed(step.events.slice(0, isBroken ? heard : undefined).map(({ json }) => json)))
        if (isBroken) {
          broken.add(offset)
          break
        }
        after = step.after
        if (offset === records.length - 1) break
      }
      left.abort()
    }
    return told
  }

  it('tells each event of a record, in their order', async () => {
    expect(await hear(log, {})).toEqual(log.flatMap(toldOf))
  })

  it('tells a record again, and all of it, to who broke off inside', async () => {
    const told = await hear([seatAdded({ id: 1 }), booked(1, 2)], {}, 3)
    const [first, ...more] = [seatAdded({ id: 1 }), booked(1, 2)].flatMap(toldOf)
    expect(told).toEqual([first, ...more.slice(0, 2), first, ...more])
  })

  it('sees each event by itself where only some are wanted', async () => {
    const type = 'theatre.BookingCancelled.v1'
    const cancelled = log.flatMap(toldOf).filter((each) => 'type' in each && each.type === type)
    expect(cancelled).toHaveLength(4)
    expect(await hear(log, { type })).toEqual(cancelled)
    expect(await hear(log, { stream: '1' })).toEqual(ofSeat)
    expect(await hear(log, { type: 'theatre.Several.v1' })).toEqual([])
  })

  it('tells each event of a record that waited behind a parked one', async () => {
    const records = [seatAdded({ id: 1 }), newerEvent('1', 2), booked(1, 3), discard('1', 1)]
    const told = [seatAdded({ id: 1 }), booked(1, 3), booked(1, 3)].flatMap(toldOf)
    expect(await hear(records, {})).toEqual(told)
  })

  it('tells records of very long events in several steps, each once', async () => {
    const note = 'x'.repeat(9000)
    const bookings = Array.from({ length: 60 }, (_, i) =>
      bookingEvent(i % 2 ? 'BookingCancelled' : 'BookingPlaced', 1, 100 + Math.floor(i / 2), 2),
    )
    const long = (version: number, id: string) => several(bookings, { id, streamversion: version, note })
    const bookedAnew = Array.from({ length: 20 }, (_, i) => {
      const { key, value } = long(i + 2, `record ${i}`)
      return { key, value: Buffer.from(String(value).replaceAll(/"bookingId":/g, `"bookingId":${i + 1}`)) }
    })
    const records = [seatAdded({ id: 1 }), ...bookedAnew]
    const behindDiscard = [
      seatAdded({ id: 1 }),
      newerEvent('1', 2),
      ...bookedAnew.map((each, i) => altered(each, { streamversion: i + 3 })),
      discard('1', 1),
    ]
    for (const [all, times] of [
      [records, 1],
      [behindDiscard, 2],
    ] as const) {
      const feed = await openFeed(all)
      const [steps, told]: [number[], string[]] = [[], []]
      const left = new AbortController()
      for await (const { events, after } of await feed.follow({ after: [] }, account, left.signal)) {
        steps.push(events.reduce((sum, { json }) => sum + json.length, 0))
        told.push(
          ...events
            .map(({ json }) => JSON.parse(json))
            .map(({ streamversion, id, data }) => `${streamversion} ${id} ${data.bookingId}`),
        )
        if (after[0]?.offset === all.length - 1) break
      }
      expect(Math.max(...steps)).toBeLessThan(5_000_000)
      expect(told).toHaveLength(1 + times * 1200)
      expect(new Set(told).size).toBe(1201)
    }
  })

  it('tells backwards each event of a record, and ends an answer in none', async () => {
    const records = [seatAdded({ id: 1 }), ...Array.from({ length: 40 }, (_, i) => booked(1, i + 2))]
    const feed = await openFeed(records)
    const pages: object[][] = []
    let upTo: readonly Position[] = [{ partition: 0, offset: records.length - 1 }]
    while (upTo.length > 0) {
      const found = await feed.earlier({ upTo }, { ...reader, ...account })
      pages.push(parsed(found.events.map(({ json }) => json)))
      upTo = found.upTo
    }
    expect(pages.map(({ length }) => length)).toEqual([52, 52, 52, 5])
    expect(pages.flat()).toEqual(records.flatMap(toldOf).toReversed())
    const wanted = await feed.earlier(
      { upTo: [{ partition: 0, offset: 1 }], type: 'theatre.BookingPlaced.v1' },
      { ...reader, ...account },
    )
    expect(wanted.events.map(({ type, stream }) => [type, stream])).toEqual([
      ['theatre.BookingPlaced.v1', '1'],
      ['theatre.BookingPlaced.v1', '1'],
    ])
  })
})
