import fc from 'fast-check'
import { describe, expect, it, vi } from 'vitest'
import { EarlierEvents, type EarlierQuery } from '../../../src/engine/feed/earlier-events.ts'
import { FairTurns } from '../../../src/engine/feed/fair-turns.ts'
import { ServiceError } from '../../../src/engine/lib/errors/errors.ts'
import type { LogRecord, Position } from '../../../src/engine/log/event-log.ts'
import { nothingLoaded } from '../../../src/engine/rule/awaiting.ts'
import { SettledEvents } from '../../../src/engine/rule/settled-events.ts'
import { type AnyRecord, logOf, record, seatAdded } from '../projector/records.ts'
import { theatre } from '../theatre/theatre.ts'
import { account, reader } from './readers.ts'

const day = 86_400_000
const base = Date.parse('2026-11-20T09:30:00.000Z')
const at = (seconds: number) => new Date(base + seconds * 1000).toISOString()

/** A seat of a partition, as many as there are in all, with the time of its event. */
const seatOf = (partition: number, n: number, time: string) =>
  seatAdded({ id: partition + n * 10 + 10 }, { time, eventId: `${partition}/${n}` })
const seats = (partition: number, times: readonly string[]) => times.map((time, n) => seatOf(partition, n, time))
const foreign = (count: number) => Array.from({ length: count }, () => record('{"no":"event"}', 'x'))

/** A log in memory, all of it applied. */
function openLog(partitions: readonly (readonly LogRecord[])[]) {
  const world = {
    ends: partitions.map((records) => (records.at(-1)?.offset ?? -1) + 1),
    reads: [] as [partition: number, from: number, limit: number][],
    atOnceMax: 0,
    applied: true,
  }
  let atOnce = 0
  const log = {
    partitionFor: (key: string) => Number(key) % 10,
    endOffsets: async () => world.ends,
    read: async (partition: number, from: number, limit: number) => {
      world.reads.push([partition, from, limit])
      world.atOnceMax = Math.max(world.atOnceMax, ++atOnce)
      await Promise.resolve()
      atOnce--
      const behind = partitions[partition]?.filter(({ offset }) => offset >= from) ?? []
      const records = behind.slice(0, limit)
      return { records, next: (records.at(-1)?.offset ?? from - 1) + 1 }
    },
  }
  const readModel = {
    load: async () => nothingLoaded,
    whenApplied: async () => (world.applied ? ('applied' as const) : ('late' as const)),
  }
  const settled = new SettledEvents({ definition: theatre, log, readModel })
  const earlier = new EarlierEvents({ log, settled, turns: new FairTurns() })
  const end = () => world.ends.flatMap((next, partition) => (next > 0 ? [{ partition, offset: next - 1 }] : []))
  const find = (query: Partial<EarlierQuery> = {}, over: Partial<typeof account> = {}) =>
    earlier.find({ upTo: end(), ...query }, { ...reader, ...account, ...over })
  /** Asks until the beginning of the log, by pages. */
  async function all(query: Partial<EarlierQuery> = {}): Promise<string[][]> {
    const pages: string[][] = []
    for (let upTo: readonly Position[] = query.upTo ?? end(); upTo.length > 0 || pages.length === 0; ) {
      const found = await find({ ...query, upTo })
      if (upTo.length > 0) expect(found.upTo).not.toEqual(upTo)
      pages.push(idsOf(found))
      upTo = found.upTo
    }
    return pages
  }
  return Object.assign(world, { find, all, log })
}

const idsOf = ({ events }: { readonly events: readonly { readonly json: string }[] }) =>
  events.map(({ json }) => String(JSON.parse(json).id))
const openOf = (partitions: readonly (readonly AnyRecord[])[]) => openLog(partitions.map((records) => logOf(records)))

describe('earlier events', () => {
  it('are the latest fifty by time over all partitions, and then those before them', async () => {
    const times = [0, 1, 2].map((partition) => Array.from({ length: 60 }, (_, n) => at(n * 3 + partition)))
    const pages = await openOf(times.map((each, partition) => seats(partition, each))).all()
    expect(pages.map(({ length }) => length)).toEqual([50, 50, 50, 30])
    const byTime = Array.from({ length: 180 }, (_, n) => `${n % 3}/${Math.floor(n / 3)}`).reverse()
    expect(pages.flat()).toEqual(byTime)
  })

  it('are each told once, against the order of the log in each partition, whatever their times', async () => {
    const anyTime = fc.oneof(
      fc.integer({ min: 0, max: 500 }).map(at),
      fc.constantFrom('yesterday', '', '9999-12-31T23:59:59Z', '1970-01-01T00:00:00Z', '-', '+275761-01-01T00:00:00Z'),
    )
    const anyPartition = fc.array(fc.option(anyTime, { nil: null, freq: 4 }), { maxLength: 260 })
    await fc.assert(
      fc.asyncProperty(fc.array(anyPartition, { minLength: 1, maxLength: 4 }), async (partitions) => {
        const records = partitions.map((times, partition) =>
          times.map((time, n) => (time === null ? record('none', 'x') : seatOf(partition, n, time))),
        )
        const told = (await openOf(records).all()).flat()
        for (const [partition, times] of partitions.entries()) {
          const expected = times.flatMap((time, n) => (time === null ? [] : [`${partition}/${n}`])).reverse()
          expect(told.filter((id) => id.startsWith(`${partition}/`))).toEqual(expected)
        }
        expect(told).toHaveLength(new Set(told).size)
      }),
      { numRuns: 60 },
    )
  })

  it.each(['yesterday', '9999-12-31T23:59:59Z', '1970-01-01T00:00:00Z', ''])(
    'of a wrong time come with their neighbours: %j',
    async (time) => {
      const right = Array.from({ length: 300 }, (_, n) => at(n))
      const one = right.map((each, n) => (n % 25 === 0 ? time : each))
      const told = (await openOf([seats(0, one), seats(1, right)]).all()).flat()
      for (const n of right.keys())
        expect(Math.abs(told.indexOf(`0/${n}`) - told.indexOf(`1/${n}`)), String(n)).toBeLessThanOrEqual(3)
    },
  )

  it('of a wrong time hold up nothing where they are the oldest of what is read at once', async () => {
    const wrong = Array.from({ length: 300 }, (_, n) => (n % 25 === 0 ? '1970-01-01T00:00:00Z' : at(n)))
    const before = Array.from({ length: 5 }, (_, n) => at(n - 10))
    const told = (await openOf([seats(0, wrong), seats(1, before)]).all()).flat()
    expect(told.slice(0, 299)).toEqual(
      wrong
        .map((_, n) => `0/${n}`)
        .reverse()
        .slice(0, 299),
    )
  })

  it('of one without any time hide nothing', async () => {
    const right = Array.from({ length: 100 }, (_, n) => at(n))
    const { find } = openOf([seats(0, Array(10).fill('')), seats(1, right)])
    expect(idsOf(await find()).filter((id) => id.startsWith('0/'))).toHaveLength(10)
  })

  it('are those of a stream, of a type', async () => {
    const { all, reads } = openOf([seats(0, [at(1), at(2)]), seats(1, [at(3)])])
    expect((await all({ stream: '20' })).flat()).toEqual(['0/1'])
    expect(reads.every(([partition]) => partition === 0)).toBe(true)
    expect((await all({ type: 'theatre.SeatAdded.v1' })).flat()).toEqual(['1/0', '0/1', '0/0'])
    expect((await all({ type: 'theatre.BookingPlaced.v1' })).flat()).toEqual([])
  })

  it('are none of an empty log, and none behind the place that is asked for', async () => {
    expect(await openOf([[], []]).find()).toEqual({ events: [], upTo: [] })
    const { all } = openOf([seats(0, [at(1), at(2), at(3)]), seats(1, [at(1)])])
    expect((await all({ upTo: [{ partition: 0, offset: 1 }] })).flat()).toEqual(['0/1', '0/0'])
  })

  it('are found behind what is no event, however much: each answer reads a bounded part', async () => {
    const world = openOf([[...seats(0, [at(1)]), ...foreign(5000)], seats(1, [at(0), at(2)])])
    let upTo: readonly Position[] | undefined
    const told: string[] = []
    let answers = 0
    do {
      world.reads.length = 0
      const found = await world.find(upTo === undefined ? {} : { upTo })
      expect(world.reads.reduce((sum, [, , limit]) => sum + limit, 0)).toBeLessThanOrEqual(1300)
      told.push(...idsOf(found))
      answers++
      upTo = found.upTo
    } while (upTo.length > 0)
    expect(told).toEqual(['1/1', '0/0', '1/0'])
    expect(answers).toBeGreaterThan(3)
  })

  it('are found behind offsets without a record, and of a log with more of them than records', async () => {
    const spread = (records: readonly AnyRecord[], step: number) =>
      logOf(records).map((each) => ({ ...each, offset: each.offset * step + 3 }))
    const { all } = openLog([
      spread(seats(0, [at(1), at(2), at(3)]), 250),
      spread(
        seats(
          1,
          Array.from({ length: 70 }, (_, n) => at(n)),
        ),
        2,
      ),
    ])
    const told = (await all()).flat()
    expect(told.filter((id) => id.startsWith('0/'))).toEqual(['0/2', '0/1', '0/0'])
    expect(told).toHaveLength(73)
  })

  it('are what is left of a log that has lost its end', async () => {
    const world = openOf([seats(0, [at(1), at(2)])])
    expect(await world.find({ upTo: [{ partition: 0, offset: 7 }] })).toMatchObject({ upTo: [], events: [{}, {}] })
  })

  it('are not told while the read models do not say what became of each', async () => {
    const world = openOf([seats(0, [at(1)])])
    world.applied = false
    await expect(world.find()).rejects.toMatchObject({ code: 'read_model_unavailable' })
  })

  it('are not told while the log is away, or does not give what it has', async () => {
    const world = openOf([seats(0, [at(1)])])
    world.log.read = async (_, from) => ({ records: [], next: from })
    await expect(world.find()).rejects.toMatchObject({ code: 'event_log_unavailable' })
    world.log.read = async () => {
      throw new ServiceError('event_log_unavailable', 'away')
    }
    await expect(world.find()).rejects.toMatchObject({ code: 'event_log_unavailable' })
    world.log.read = async (_, from) => {
      world.ends = [0]
      return { records: [], next: from }
    }
    await expect(world.find()).rejects.toMatchObject({ code: 'event_log_unavailable' })
  })

  it('count each batch behind the first one, and are as many as the rate of the owner allows', async () => {
    const world = openOf([[...seats(0, [at(1)]), ...foreign(900)], seats(1, [at(2)])])
    let left = 3
    const count = vi.fn(() => (left-- > 0 ? 0 : 7000))
    const first = await world.find({}, { count })
    expect(count).toHaveBeenCalledTimes(4)
    expect(first.upTo).toContainEqual({ partition: 0, offset: 900 - 50 - 100 - 100 - 100 })
    const { upTo } = await world.find({ upTo: first.upTo }, { count })
    expect(upTo).toContainEqual({ partition: 0, offset: 900 - 50 - 100 - 100 - 100 - 50 })
  })

  it('of hundreds of partitions are read in batches too', async () => {
    const partitions = Array.from({ length: 10 }, (_, partition) => seats(partition, [at(partition)]))
    const many = [...partitions, ...Array.from({ length: 290 }, () => foreign(3))]
    const world = openOf(many)
    const count = vi.fn(() => 0)
    const { events, upTo } = await world.find({}, { count })
    expect([events.length, upTo.length]).toEqual([10, 0])
    expect(count).toHaveBeenCalledTimes(29)
    expect(world.atOnceMax).toBeLessThanOrEqual(10)
  })

  it('have one batch in progress for an owner', async () => {
    const world = openOf([seats(0, [at(1)]), foreign(400)])
    await Promise.all(Array.from({ length: 5 }, () => world.find()))
    expect(world.atOnceMax).toBeLessThanOrEqual(2) // of two partitions
  })

  it('go on where clocks differ by days', async () => {
    const ahead = Array.from({ length: 30 }, (_, n) => new Date(base + day + n * 1000).toISOString())
    const right = Array.from({ length: 30 }, (_, n) => at(n))
    const told = (await openOf([seats(0, right), seats(1, ahead)]).all()).flat()
    expect(told).toEqual([...ahead.map((_, n) => `1/${n}`).reverse(), ...right.map((_, n) => `0/${n}`).reverse()])
  })
})
