import { setTimeout as delay } from 'node:timers/promises'
import fc from 'fast-check'
import { describe, expect, it, onTestFinished } from 'vitest'
import { EventFeed, type FeedQuery } from '../../../src/engine/feed/event-feed.ts'
import type { HistoryPlace } from '../../../src/engine/feed/histories.ts'
import { ServiceError } from '../../../src/engine/lib/errors/errors.ts'
import type { EventLog } from '../../../src/engine/log/event-log.ts'
import { shownEvents } from '../../../src/engine/log/shown-event.ts'
import { ProvenReadModel } from '../../../src/engine/read-models/proven-read-model.ts'
import type { ReadModel } from '../../../src/engine/read-models/read-model.ts'
import { decodeEntry, decodeRow } from '../../../src/engine/read-models/stored-texts.ts'
import { Tracker } from '../../../src/engine/read-models/tracker.ts'
import { nothingLoaded } from '../../../src/engine/rule/awaiting.ts'
import { eventually } from '../../lib/eventually.ts'
import { anyLog } from '../projector/any-log.ts'
import { everything } from '../projector/projecting.ts'
import { type AnyRecord, bookingEvent, discard, newerEvent, seatAdded } from '../projector/records.ts'
import { openWorld, untilCaughtUp, withMethods } from '../projector/world.ts'
import { theatre } from '../theatre/theatre.ts'
import { account, reader } from './readers.ts'

type Reading = Pick<ReadModel, 'load' | 'whenApplied' | 'generationOf'>
type Over = { readonly log?: (log: EventLog) => EventLog; readonly readModel?: (model: Reading) => Reading }

/** A log with a projector and a feed of it; `over` puts something in between. */
async function openFeed(over: Over = {}) {
  const world = openWorld()
  await world.start()
  await untilCaughtUp(world)
  const tracker = new Tracker(world.store.generations, { lookMs: 20 })
  const proven = new ProvenReadModel({ ...world.store, tracker, log: world.log })
  const log = over.log?.(world.log) ?? world.log
  const feed = new EventFeed({
    definition: theatre,
    log,
    readModel: over.readModel?.(proven) ?? proven,
    placeEveryMs: 20,
  })
  onTestFinished(async () => {
    feed.close()
    proven.close()
    await tracker.close()
  })
  await eventually(() => expect(proven.state.status).toBe('up'))
  return { ...world, feed }
}

/** Follows a feed in the background, and notes what comes. */
function following(feed: EventFeed, query: Partial<FeedQuery> = {}, by = account) {
  const told: string[] = []
  const gone = new AbortController()
  const seen = { told, steps: 0, last: 0, stop: () => gone.abort(), ended: Promise.resolve() }
  async function follow(): Promise<void> {
    for await (const { events, after } of await feed.follow({ after: [], ...query }, by, gone.signal)) {
      told.push(...events.map(({ json }) => json))
      seen.steps++
      seen.last = (after[0]?.offset ?? -1) + 1
    }
  }
  seen.ended = follow()
  return seen
}

const textOf = ({ value }: AnyRecord) => String(value)
const endOf = async ({ log }: { readonly log: EventLog }) => (await log.endOffsets())[0] ?? 0

/** What the histories and rows of the read models say took effect, as it is told. */
async function effective({ store, log }: Pick<Awaited<ReturnType<typeof openFeed>>, 'store' | 'log'>) {
  const found = await everything(store)
  const seats = (found.documents.seats ?? []).map(([id, text]) => [id, text.split('\0')[1] ?? ''] as const)
  const byStream = new Map<string, string[]>()
  for (const [stream, text] of [...seats, ...found.rows]) {
    const entries = decodeRow(stream, undefined, text).entries.map(decodeEntry)
    const offsets = entries.flatMap(({ offset, isDiscarded }) => (isDiscarded ? [] : [offset]))
    const read = await Promise.all(offsets.map((offset) => log.read(0, offset, 1)))
    byStream.set(
      stream,
      read.flatMap(({ records }) => shownEvents(String(records[0]?.value))),
    )
  }
  return byStream
}

describe('the feed', () => {
  it('tells what took effect, however the log came about, and a history tells it of one stream', async () => {
    await fc.assert(
      fc.asyncProperty(anyLog({ isSound: true }), fc.nat(40), async (records, cut) => {
        const world = await openFeed()
        const live = following(world.feed)
        await world.append(records.slice(0, cut))
        if (cut % 2) await untilCaughtUp(world)
        await world.append(records.slice(cut))
        await untilCaughtUp(world)
        const late = following(world.feed)
        const end = await endOf(world)
        for (const each of [live, late]) await eventually(() => expect(each.last).toBe(end))
        const expected = await effective(world)
        for (const { told } of [live, late]) {
          expect(new Set(told)).toEqual(new Set([...expected.values()].flat()))
        }
        for (const [stream, events] of expected) {
          const history = await world.feed.history(stream, { limit: 100 }, reader)
          expect(history).toMatchObject({ events, last: undefined })
        }
        world.feed.close()
        await Promise.all([live.ended, late.ended])
        await world.close()
      }),
      { numRuns: 25 },
    )
  })

  it('tells each event once, in the order of the log, where nothing was parked', async () => {
    const world = await openFeed()
    const live = following(world.feed)
    const values: string[] = []
    for (let id = 1; id <= 30; id++) {
      const records: AnyRecord[] = [seatAdded({ id }), bookingEvent('BookingPlaced', id, 100 + id, 2)]
      values.push(...records.map(textOf))
      await world.append(records)
    }
    await eventually(() => expect(live.told).toEqual(values))
    const behind = following(world.feed, { after: [{ partition: 0, offset: 56 }] })
    await eventually(() => expect(behind.told).toEqual(values.slice(57)))
  })

  it('is at no place behind offsets without a record before the read models are', async () => {
    const withMarkers: EventLog['read'] = async (...place) => {
      const { records, next } = await world.log.read(...place)
      return { records, next: next + 3 }
    }
    const world = await openFeed({ log: (log) => withMethods(log, { read: withMarkers }) })
    const seen = following(world.feed)
    await world.append([seatAdded({ id: 1 }), seatAdded({ id: 2 })])
    await eventually(() => expect(seen.told).toHaveLength(2))
    await eventually(() => expect(seen.last).toBeGreaterThanOrEqual(2))
    expect(seen.last).toBe(2)
  })

  it('is at no such place in front of a record that the read models have not come to', async () => {
    const late: (model: Reading) => Reading = (model) => ({
      load: (...query) => model.load(...query),
      generationOf: (partition) => model.generationOf(partition),
      whenApplied: async (position, wait) => {
        if (position.offset < 2) return await model.whenApplied(position, wait)
        await delay(wait.timeoutMs, undefined, { ref: false })
        return 'late'
      },
    })
    const withGap: EventLog['read'] = async (partition, from, limit) => {
      const { records } = await world.log.read(partition, Math.min(from, 2), limit)
      const moved = records.map((each) => (each.offset < 2 ? each : { ...each, offset: each.offset + 3 }))
      return { records: moved.filter(({ offset }) => offset >= from), next: 6 }
    }
    const world = await openFeed({ log: (log) => withMethods(log, { read: withGap }), readModel: late })
    const seen = following(world.feed)
    await world.append([seatAdded({ id: 1 }), seatAdded({ id: 2 }), seatAdded({ id: 3 })])
    await eventually(() => expect(seen.last).toBeGreaterThanOrEqual(2))
    expect([seen.told.length, seen.last]).toEqual([2, 2])
  })

  it('tells what comes from now on, of one stream, of one type', async () => {
    const world = await openFeed()
    await world.append([seatAdded({ id: 1 }), seatAdded({ id: 2 })])
    const now = following(world.feed, { after: 'now' })
    const stream = following(world.feed, { stream: '2' })
    const type = following(world.feed, { type: 'theatre.BookingPlaced.v1' })
    await eventually(() => expect(world.feed.followers).toBe(3))
    const placed = bookingEvent('BookingPlaced', 1, 12, 2)
    await world.append([placed, seatAdded({ id: 3 })])
    const [first, second, third] = [placed, seatAdded({ id: 2 }), seatAdded({ id: 3 })].map(textOf)
    await eventually(() => expect(now.told).toEqual([first, third]))
    await eventually(() => expect([stream.last, type.last]).toEqual([4, 4]))
    expect([stream.told, type.told]).toEqual([[second], [first]])
  })

  it('tells an event that waited behind a parked one when that is discarded', async () => {
    const world = await openFeed()
    const live = following(world.feed)
    const [parked, waiting] = [bookingEvent('BookingApproved', 1, 12, 2), bookingEvent('BookingPlaced', 1, 13, 3)]
    await world.append([seatAdded({ id: 1 }), parked, waiting])
    await eventually(() => expect(live.last).toBe(3))
    expect(live.told).toHaveLength(1)
    await world.append([discard('1', 1)])
    await eventually(() => expect(live.told.slice(1)).toEqual([textOf(waiting)]))
  })

  it('reads the log once for all who follow it', async () => {
    let reads = 0
    const counted = (log: EventLog) =>
      withMethods(log, {
        read: (...at) => {
          reads++
          return log.read(...at)
        },
      })
    const world = await openFeed({ log: counted })
    const all = Array.from({ length: 200 }, () => following(world.feed))
    await eventually(() => expect(world.feed.followers).toBe(200))
    await world.append([seatAdded({ id: 1 })])
    for (const { told } of all) await eventually(() => expect(told).toHaveLength(1))
    expect(reads).toBeLessThan(5)
  })

  it('waits once in each of a hundred partitions for all who follow it', async () => {
    const partitions = 100
    let waits = 0
    const feed = new EventFeed({
      definition: theatre,
      log: {
        partitions,
        partitionFor: () => 0,
        endOffsets: async () => Array(partitions).fill(0),
        read: async (_, next) => ({ records: [], next }),
      },
      readModel: {
        load: async () => nothingLoaded,
        whenApplied: async (_, { timeoutMs }) => {
          if (timeoutMs === 0) return 'late'
          waits++
          return new Promise(() => {})
        },
        generationOf: () => 'one',
      },
    })
    const all = Array.from({ length: 3 }, () => following(feed))
    await eventually(() => expect(all.map(({ steps }) => steps)).toEqual([1, 1, 1]))
    await eventually(() => expect(waits).toBe(partitions))
    feed.close()
    await Promise.all(all.map(({ ended }) => ended))
  })

  it('asks again what became of events once another generation is read, which may be of a log that lost its end', async () => {
    let [generation, isKnown] = ['before', false]
    const world = await openFeed({
      readModel: (model) => ({
        load: async (...query) => (isKnown ? model.load(...query) : nothingLoaded),
        whenApplied: async () => 'unheard',
        generationOf: () => generation,
      }),
    })
    await world.append([seatAdded({ id: 1 })])
    const early = following(world.feed)
    await eventually(async () => expect(early.last).toBe(await endOf(world)))
    expect(early.told).toEqual([])
    generation = 'after'
    isKnown = true
    const late = following(world.feed)
    await eventually(() => expect(late.told).toHaveLength(1))
  })

  it('goes on once the log and the read models can be read again', async () => {
    let isAway = true
    const away = () => new ServiceError('event_log_unavailable', 'away')
    const world = await openFeed({
      log: (log) => withMethods(log, { read: (...at) => (isAway ? Promise.reject(away()) : log.read(...at)) }),
      readModel: (model) => ({
        load: (...query) => (isAway ? Promise.reject(away()) : model.load(...query)),
        whenApplied: (...wait) => model.whenApplied(...wait),
        generationOf: (partition) => model.generationOf(partition),
      }),
    })
    const live = following(world.feed)
    await world.append([seatAdded({ id: 1 })])
    await untilCaughtUp(world)
    expect(live.told).toEqual([])
    isAway = false
    await eventually(() => expect(live.told).toHaveLength(1))
  })

  it('refuses to begin beyond the end of the log', async () => {
    const { feed, append } = await openFeed()
    await append([seatAdded({ id: 1 })])
    const beyond = feed.follow({ after: [{ partition: 0, offset: 1 }] }, account, new AbortController().signal)
    await expect(beyond).rejects.toMatchObject({ code: 'invalid_consistency_token' })
  })

  it('ends for whoever goes, and for all when it is closed', async () => {
    const { feed } = await openFeed()
    const [goes, stays] = [following(feed), following(feed)]
    await eventually(() => expect(feed.followers).toBe(2))
    goes.stop()
    await goes.ended
    expect(feed.followers).toBe(1)
    feed.close()
    await stays.ended
    expect(feed.followers).toBe(0)
    await following(feed).ended
  })
})

describe('a history', () => {
  it('has no event of another seat, though a log that lost its end may have one in that place', async () => {
    async function readOther(real: EventLog, from: number) {
      const { records, next } = await real.read(0, 1, 1)
      return { records: records.map((record) => ({ ...record, offset: from })), next }
    }
    const world = await openFeed({ log: (real) => withMethods(real, { read: (_, from) => readOther(real, from) }) })
    await world.append([seatAdded({ id: 1 }), seatAdded({ id: 2 })])
    await untilCaughtUp(world)
    await expect(world.feed.history('1', { limit: 20 }, reader)).rejects.toMatchObject({
      code: 'event_log_unavailable',
    })
  })

  it('has every event of a stream, however many, and so has the feed, late or not', async () => {
    const { feed, append, ...world } = await openFeed()
    const live = following(feed)
    const turns = Array.from({ length: 501 }, (_, turn) => [
      bookingEvent('BookingPlaced', 1, 10 + turn, 2 + 2 * turn),
      bookingEvent('BookingCancelled', 1, 10 + turn, 3 + 2 * turn),
    ])
    const records = [seatAdded({ id: 1 }), ...turns.flat()]
    await append(records.slice(0, 600))
    await append(records.slice(600))
    await untilCaughtUp(world)
    const told: string[] = []
    let after: HistoryPlace | undefined
    do {
      const { events, last } = await feed.history('1', { after, limit: 77 }, reader)
      told.push(...events)
      after = last
    } while (after !== undefined)
    expect(told).toEqual(records.map(textOf))
    const late = following(feed)
    for (const each of [live, late]) await eventually(() => expect(each.told).toEqual(records.map(textOf)))
  })

  it('leaves out what was discarded, without a page becoming shorter for that', async () => {
    const { feed, append, ...world } = await openFeed()
    const events = [seatAdded({ id: 1 }), newerEvent('1', 2), bookingEvent('BookingPlaced', 1, 12, 3)]
    await append([...events, discard('1', 1)])
    await untilCaughtUp(world)
    const shown = [events[0], events[2]].map((each) => String(each?.value))
    expect(await feed.history('1', { limit: 2 }, reader)).toMatchObject({ events: shown, last: undefined })
    expect(await feed.history('1', { limit: 1 }, reader)).toMatchObject({
      events: shown.slice(0, 1),
      last: { version: 1 },
    })
    expect(await feed.history('1', { after: { version: 1 }, limit: 1 }, reader)).toMatchObject({
      events: shown.slice(1),
      last: undefined,
    })
  })
})
