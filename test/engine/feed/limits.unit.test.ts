import { setImmediate as nextTurn } from 'node:timers/promises'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { EventFeed, type EventFeedOptions, type FeedStep } from '../../../src/engine/feed/event-feed.ts'
import type { Account } from '../../../src/engine/feed/feed-batch.ts'
import { ServiceError } from '../../../src/engine/lib/errors/errors.ts'
import type { LogRecord } from '../../../src/engine/log/event-log.ts'
import { decodeEntry, encodeEntry } from '../../../src/engine/read-models/stored-texts.ts'
import { nothingLoaded } from '../../../src/engine/rule/awaiting.ts'
import { eventually } from '../../lib/eventually.ts'
import { altered, bookingEvent, logOf, seatAdded } from '../projector/records.ts'
import { theatre } from '../theatre/theatre.ts'
import { account, reader } from './readers.ts'

const records = logOf(Array.from({ length: 3000 }, (_, i) => seatAdded({ id: i + 1 })))

type WhenApplied = EventFeedOptions['readModel']['whenApplied']

/** What is applied up to `end`, which `apply` moves. */
function appliedUpTo(first: number, outcome: 'applied' | 'without_effect' = 'applied') {
  let end = first
  const waiting: { readonly offset: number; readonly release: () => void }[] = []
  const whenApplied: WhenApplied = async ({ offset }, { timeoutMs }) => {
    if (offset < end) return outcome
    if (timeoutMs === 0) return 'late'
    await new Promise<void>((release) => void waiting.push({ offset, release }))
    return outcome
  }
  function apply(next: number): void {
    end = next
    for (const { offset, release } of waiting) if (offset < end) release()
  }
  return { whenApplied, apply }
}

/** A feed of a log in memory, all of it applied; each read waits for `beforeRead`. */
function openFeed(over: Partial<EventFeedOptions['readModel']> = {}, partitions = 1) {
  const world = { reads: 0, readsAtOnce: 0, atOnceMax: 0, beforeRead: async () => {}, log: records }
  const feed = new EventFeed({
    definition: theatre,
    log: {
      partitions,
      partitionFor: () => 0,
      endOffsets: async () => Array(partitions).fill(world.log.length),
      read: async (_, from, limit) => {
        world.reads++
        world.readsAtOnce++
        world.atOnceMax = Math.max(world.atOnceMax, world.readsAtOnce)
        try {
          await world.beforeRead()
          const found = world.log.slice(from, from + limit)
          return { records: found, next: from + found.length }
        } finally {
          world.readsAtOnce--
        }
      },
    },
    readModel: {
      load: async () => nothingLoaded,
      whenApplied: appliedUpTo(records.length).whenApplied,
      generationOf: () => 'one',
      ...over,
    },
  })
  onTestFinished(() => feed.close())
  return Object.assign(world, { feed })
}

/** Follows in the background from an offset on. */
function follow(feed: EventFeed, from: number, by: Account = account) {
  const seen = { steps: [] as FeedStep[], events: 0, gone: new AbortController() }
  void (async () => {
    const after = from === 0 ? [] : [{ partition: 0, offset: from - 1 }]
    for await (const step of await feed.follow({ after }, by, seen.gone.signal)) {
      seen.steps.push(step)
      seen.events += step.events.length
    }
  })()
  return seen
}

describe('a feed that catches up', () => {
  it('leaves a turn of the event loop to everything else with each batch', async () => {
    const { feed } = openFeed()
    let turns = 0
    let isDone = false
    const counting = (async () => {
      for (; !isDone; turns++) await nextTurn()
    })()
    const seen = follow(feed, 0)
    await eventually(() => expect(seen.events).toBe(records.length))
    isDone = true
    await counting
    expect(turns).toBeGreaterThanOrEqual(30)
  })

  it('has one batch in progress for an owner, two for all, and holds up nobody else', async () => {
    const world = openFeed()
    const { promise: goesOn, resolve: goOn } = Promise.withResolvers<void>()
    world.beforeRead = () => goesOn
    const by = (owner: string) => ({ ...account, owner })
    const many = Array.from({ length: 20 }, (_, i) => follow(world.feed, i, by('a')))
    await eventually(() => expect(world.readsAtOnce).toBe(1))
    const others = ['b', 'c', 'd'].map((owner, i) => follow(world.feed, 50 + i, by(owner)))
    await eventually(() => expect(world.readsAtOnce).toBe(2))
    goOn()
    for (const each of others) await eventually(() => expect(each.events).toBeGreaterThan(2900))
    for (const [i, each] of many.entries()) await eventually(() => expect(each.events).toBe(records.length - i))
    expect(world.atOnceMax).toBe(2)
  })

  it('reads long events anew for a follower that comes later, and keeps short ones for it', async () => {
    const long = logOf(records.map((each) => altered(each, { note: 'x'.repeat(15_000) })))
    for (const [log, reads] of [
      [records, 30],
      [long, 60],
    ] as const) {
      const world = openFeed()
      world.log = log
      for (let follower = 0; follower < 2; follower++) {
        const seen = follow(world.feed, 0)
        await eventually(() => expect(seen.events).toBe(records.length))
        seen.gone.abort()
      }
      expect(world.reads).toBe(reads)
    }
  })

  it('counts each batch that has a hundred records behind it, and waits where the rate is used up', async () => {
    const { feed } = openFeed()
    let left = 10
    const count = vi.fn(() => (left-- > 0 ? 0 : 20))
    const seen = follow(feed, 0, { owner: 'a', count })
    await eventually(() => expect(count.mock.calls.length).toBeGreaterThan(12))
    expect(seen.events).toBe(1000)
    left = 100
    await eventually(() => expect(seen.events).toBe(3000))
    expect(left).toBe(80)
  })

  it('that ends while it waits gives its turn to others', async () => {
    const world = openFeed()
    const { promise: goesOn, resolve: goOn } = Promise.withResolvers<void>()
    world.beforeRead = () => goesOn
    const all = Array.from({ length: 50 }, (_, i) => follow(world.feed, i))
    await eventually(() => expect(world.readsAtOnce).toBe(1))
    for (const { gone } of all) gone.abort()
    const last = follow(world.feed, 2000)
    goOn()
    await eventually(() => expect(last.events).toBe(1000))
    expect(world.reads).toBe(11)
  })
})

describe('a feed at the end of the log', () => {
  it('costs nothing of what its owner may', async () => {
    const { whenApplied, apply } = appliedUpTo(2990)
    const { feed } = openFeed({ whenApplied })
    const count = vi.fn(() => 0)
    const seen = follow(feed, 2990, { owner: 'a', count })
    for (let end = 2991; end <= 3000; end++) {
      apply(end)
      await eventually(() => expect(seen.events).toBe(end - 2990))
    }
    expect(count).not.toHaveBeenCalled()
  })

  it('tells its place once in ten seconds, however many partitions it waits for, and though none can be read', async () => {
    vi.useFakeTimers()
    onTestFinished(() => void vi.useRealTimers())
    const { feed } = openFeed({ whenApplied: async () => 'late' }, 256)
    const seen = follow(feed, 0)
    await vi.advanceTimersByTimeAsync(35_000)
    expect(seen.steps.length).toBe(4)
  })

  it('tells its place alone once a second, where nothing that is asked for has happened', async () => {
    vi.useFakeTimers()
    onTestFinished(() => void vi.useRealTimers())
    const { whenApplied, apply } = appliedUpTo(0, 'without_effect')
    const { feed } = openFeed({ whenApplied })
    const seen = follow(feed, 0)
    for (let end = 0; end <= 300; end++) {
      apply(end)
      await vi.advanceTimersByTimeAsync(20)
    }
    await vi.advanceTimersByTimeAsync(1100)
    expect(seen.events).toBe(0)
    expect(seen.steps.length).toBeGreaterThan(5)
    expect(seen.steps.length).toBeLessThan(10)
    expect(seen.steps.at(-1)?.after).toEqual([{ partition: 0, offset: 299 }])
  })
})

describe('a history', () => {
  /** The events of one seat, each with others behind it. */
  const events = Array.from({ length: 100 }, (_, i) => {
    return i === 0
      ? seatAdded({ id: 1 })
      : bookingEvent(i % 2 ? 'BookingPlaced' : 'BookingCancelled', 1, 100 + i, i + 1)
  })
  const distance = 120
  const log: LogRecord[] = logOf(events.flatMap((event) => [event, ...Array(distance - 1).fill(seatAdded({ id: 2 }))]))

  function openHistories() {
    const entries = new Map(events.map((_, i) => [i + 1, decodeEntry(encodeEntry(i * distance, 'event'))]))
    const world = openFeed({ load: async () => ({ ...nothingLoaded, entries }) })
    world.log = log
    world.beforeRead = async () => {
      for (let turn = 0; turn < 10; turn++) await nextTurn()
    }
    return world
  }

  it('has one read in progress for an owner, two for all, and so have ten at once', async () => {
    const world = openHistories()
    const by = (owner: string) => world.feed.history('1', { limit: 100 }, { ...reader, owner })
    const told = await Promise.all(Array.from({ length: 10 }, () => by('a')))
    for (const history of told) expect(history.events).toHaveLength(100)
    expect(world.atOnceMax).toBe(1)
    await Promise.all(['a', 'b', 'c', 'd'].map(by))
    expect(world.atOnceMax).toBe(2)
  })

  it('is given up once its client has gone', async () => {
    const world = openHistories()
    const isGone = () => world.reads >= 10
    await expect(world.feed.history('1', { limit: 100 }, { owner: 'a', isGone })).rejects.toThrow()
    expect(world.reads).toBeLessThan(15)
  })

  it('that is not read in time says why, and reads no more', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
    onTestFinished(() => void vi.useRealTimers())
    const world = openHistories()
    const { promise: goesOn, resolve: goOn } = Promise.withResolvers<void>()
    world.beforeRead = () => goesOn
    const late = world.feed.history('1', { limit: 100 }, reader).catch((error) => error)
    await eventually(() => expect(world.reads).toBe(1))
    vi.advanceTimersByTime(10_000)
    expect(await late).toMatchObject({ code: 'overloaded', message: expect.stringContaining('not read in time') })
    goOn()
    await nextTurn()
    await nextTurn()
    expect(world.reads).toBe(1)
  })

  it('says that the log does not answer only where that is so', async () => {
    const world = openHistories()
    world.beforeRead = () => Promise.reject(new ServiceError('event_log_unavailable', 'away'))
    await expect(world.feed.history('1', { limit: 100 }, reader)).rejects.toMatchObject({
      code: 'event_log_unavailable',
    })
  })
})
