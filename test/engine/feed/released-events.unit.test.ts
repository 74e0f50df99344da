import { expect, it, vi } from 'vitest'
import { EventFeed, type FeedStep } from '../../../src/engine/feed/event-feed.ts'
import type { Position } from '../../../src/engine/log/event-log.ts'
import { openProjection } from '../projector/projecting.ts'
import { type AnyRecord, bookingEvent, discard, newerEvent, seatAdded } from '../projector/records.ts'
import { theatre } from '../theatre/theatre.ts'
import { account } from './readers.ts'

/** A feed of a log all of which is applied. */
async function openFeed(records: readonly AnyRecord[]) {
  const { log, readModel, apply } = await openProjection()
  await apply(records)
  const load = vi.fn(readModel.load)
  const feed = new EventFeed({
    definition: theatre,
    log: { ...log, partitions: 1 },
    readModel: {
      ...readModel,
      load,
      whenApplied: async ({ offset }) => (offset < records.length ? 'unheard' : 'late'),
    },
    placeEveryMs: 0,
  })
  return { feed, load }
}

/** All steps of a feed from its beginning up to the end of the log; with `breaks`, each on a connection of its own. */
async function stepsOf(feed: EventFeed, end: number, breaks = false): Promise<FeedStep[]> {
  const steps: FeedStep[] = []
  let after: readonly Position[] = []
  const isDone = () => after[0]?.offset === end - 1
  while (!isDone()) {
    for await (const step of await feed.follow({ after }, account, new AbortController().signal)) {
      steps.push(step)
      after = step.after
      if (isDone() || (breaks && step.events.length > 0)) break
    }
  }
  return steps
}

const textOf = ({ value }: AnyRecord) => String(value)
const bookings = (count: number, from: number) =>
  Array.from({ length: count }, (_, i) => {
    return bookingEvent(i % 2 ? 'BookingCancelled' : 'BookingPlaced', 1, 100 + Math.floor(i / 2), from + i)
  })

it('what a discard released is told in steps, whose id stays before the discard until all is told', async () => {
  const waiting = bookings(350, 3)
  const records = [seatAdded({ id: 1 }), newerEvent('1', 2), ...waiting, discard('1', 1), seatAdded({ id: 2 })]
  const { feed } = await openFeed(records)
  const at = records.length - 2
  const steps = await stepsOf(feed, records.length)
  // Those that waited come twice to whoever reads the log later: in their place, and with the discard.
  const before = steps.filter(({ after }) => (after[0]?.offset ?? -1) < at)
  const expected = [records[0] as AnyRecord, ...waiting, ...waiting, records.at(-1) as AnyRecord].map(textOf)
  expect(steps.flatMap(({ events }) => events.map(({ json }) => json))).toEqual(expected)
  expect(before.filter(({ after }) => after[0]?.offset === at - 1).length).toBeGreaterThan(3)
  for (const { events } of steps) expect(events.length).toBeLessThanOrEqual(100)
  feed.close()
})

it('what a discard released ends with the next event that was parked, whether that is discarded since or not', async () => {
  const [first, second] = [newerEvent('1', 2), newerEvent('1', 4)]
  const waiting = [bookingEvent('BookingPlaced', 1, 12, 3), second, bookingEvent('BookingCancelled', 1, 12, 5)]
  const log = [seatAdded({ id: 1 }), first, ...waiting, discard('1', 1)]
  const toldAtDiscard = async (records: readonly AnyRecord[]) => {
    const { feed } = await openFeed(records)
    const steps = await stepsOf(feed, records.length)
    feed.close()
    const index = steps.findIndex(({ after }) => after[0]?.offset === 5)
    return steps[index]?.events.map(({ json }) => json)
  }
  expect(await toldAtDiscard(log)).toEqual([textOf(waiting[0] as AnyRecord)])
  expect(await toldAtDiscard([...log, discard('1', 3)])).toEqual([textOf(waiting[0] as AnyRecord)])
})

it('a discard without effect tells nothing', async () => {
  const records = [
    seatAdded({ id: 1 }),
    bookingEvent('BookingPlaced', 1, 12, 2),
    discard('1', 0),
    discard('1', 7),
    discard('2', 1),
  ]
  const { feed } = await openFeed(records)
  const steps = await stepsOf(feed, records.length)
  expect(steps.flatMap(({ events }) => events.map(({ json }) => json))).toEqual(records.slice(0, 2).map(textOf))
  feed.close()
})

it('ends for followers whose place lies beyond the end of a log that lost its end', async () => {
  const { log, readModel, apply } = await openProjection()
  await apply([seatAdded({ id: 1 }), seatAdded({ id: 2 })])
  let [end, generation] = [2, 'one']
  const applied = Promise.withResolvers<void>()
  const feed = new EventFeed({
    definition: theatre,
    log: { ...log, partitions: 1, endOffsets: async () => [end] },
    readModel: {
      ...readModel,
      whenApplied: async ({ offset }) => (offset < 2 ? 'unheard' : applied.promise.then(() => 'late' as const)),
      generationOf: () => generation,
    },
  })
  const followed = stepsOf(feed, 3)
  const [, another] = [followed.catch(() => {}), feed.follow({ after: 'now' }, account, new AbortController().signal)]
  const steps = await another
  await steps.next()
  const next = steps.next()
  ;[end, generation] = [1, 'two']
  applied.resolve()
  expect(await next).toEqual({ done: true, value: undefined })
  await expect(
    feed.follow({ after: [{ partition: 0, offset: 1 }] }, account, new AbortController().signal),
  ).rejects.toMatchObject({
    code: 'invalid_consistency_token',
  })
  feed.close()
})
