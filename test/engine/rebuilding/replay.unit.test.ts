import { setImmediate as nextTurn } from 'node:timers/promises'
import { describe, expect, it, vi } from 'vitest'
import { ServiceError } from '../../../src/engine/lib/errors/errors.ts'
import { type LogRecord, type Offset, type ReadRecords, readMax } from '../../../src/engine/log/event-log.ts'
import { Replay } from '../../../src/engine/rebuilding/replay.ts'
import { logger } from '../projector/projecting.ts'
import { bookingEvent, discard, logOf, newerEvent, seatAdded } from '../projector/records.ts'
import { memoryReadModels } from '../read-models/memory-read-models.ts'
import { theatre } from '../theatre/theatre.ts'
import { adjustableClock } from './rebuilding.ts'

/** A partition that holds these records, and before its end no others, as between markers of transactions. */
interface Sparse {
  records: readonly LogRecord[]
  end: Offset
}

/** The seats of a partition, one after the other. */
function seats(count: number, partition = 0, partitions = 1): Sparse {
  const ids = Array.from({ length: count }, (_, i) => (i + 1) * partitions + partition)
  return { records: logOf(ids.map((id) => seatAdded({ id }))), end: count }
}

/** No page has more than so many offsets. */
async function openReplay(partitions: readonly Sparse[], pageOffsets = Number.POSITIVE_INFINITY) {
  const store = memoryReadModels()
  await store.generations.start({ name: 'new', logId: 'log' }, undefined)
  const give = async (partition: number, from: Offset, limit: number): Promise<ReadRecords> => {
    const { records, end } = partitions[partition] ?? seats(0)
    const behind = Math.min(end, from + pageOffsets)
    const found = records.filter(({ offset }) => offset >= from && offset < behind).slice(0, limit)
    const last = found.length === limit ? found.at(-1) : undefined
    return { records: found, next: last === undefined ? Math.max(from, behind) : last.offset + 1 }
  }
  const read = vi.fn(give)
  const endOffsets = async () => partitions.map(({ end }) => end)
  const log = { partitionFor: (key: string) => Number(key) % partitions.length, endOffsets, read }
  const start = (signal = new AbortController().signal) =>
    new Replay({ definition: theatre, log, store: store.projection, logger, signal }, 'new')
  const replay = start()
  const stored = async () => (await store.generations.checkpoints('new')) ?? new Map()
  const advance = async (...ends: Offset[]) => replay.advance(await stored(), new Map(ends.entries()))
  async function upTo(end: Offset) {
    for (let turn = 0; turn < 100 && (await stored()).get(0)?.next !== end; turn++) await advance(end)
  }
  return { give, read, start, stored, advance, upTo }
}

describe('a replay', () => {
  it('applies everything before an end and nothing behind it, page by page', async () => {
    const { read, upTo, stored } = await openReplay([seats(7000)])
    for (const end of [1, 2 * readMax + 7, 2 * readMax + 8]) {
      await upTo(end)
      expect((await stored()).get(0)).toMatchObject({ next: end, last: { offset: end - 1 }, counts: { applied: end } })
    }
    expect(read.mock.calls.map(([, , limit]) => limit)).toEqual([1, readMax, readMax, 9, 2])
  })

  it('gets over offsets without a record, also where there are more of them than a page has', async () => {
    const records = [...logOf([1, 2].map((id) => seatAdded({ id }))), ...logOf([seatAdded({ id: 3 })], 400)]
    const { upTo, stored } = await openReplay([{ records, end: 410 }], 30)
    for (const [end, applied] of [[300, 2] as const, [400, 2] as const, [401, 3] as const, [410, 3] as const]) {
      await upTo(end)
      expect((await stored()).get(0)).toMatchObject({ next: end, counts: { applied } })
    }
  })

  it('notices with each page that the log lost its end, and grew again', async () => {
    const partition = seats(2 * readMax)
    const { advance, stored } = await openReplay([partition])
    await advance(partition.end)
    const reached = await stored()
    partition.records = logOf(partition.records.toReversed())
    await expect(advance(partition.end)).rejects.toMatchObject({ name: 'MismatchError' })
    expect(await stored()).toEqual(reached)
  })

  it('says that it did not move where the log gives no more, and where somebody else moved the generation', async () => {
    const { start, advance, stored } = await openReplay([seats(3)])
    const empty = await stored()
    await advance(5)
    const three = await stored()
    expect(await start().advance(three, new Map([[0, 5]]))).toBe(three)
    expect(await start().advance(empty, new Map([[0, 3]]))).toBe(empty)
    expect((await stored()).get(0)).toMatchObject({ next: 3, counts: { applied: 3 } })
  })

  it('reads four partitions at once at most, and begins with no other once one fails', async () => {
    const partitions = Array.from({ length: 10 }, (_, partition) => seats(10, partition, 10))
    const { give, read, advance, stored } = await openReplay(partitions)
    const ends = partitions.map(({ end }) => end)
    let [reading, most] = [0, 0]
    read.mockImplementation(async (...place) => {
      most = Math.max(most, ++reading)
      await nextTurn()
      reading--
      if (most === 4 && place[0] === 1) throw new ServiceError('event_log_unavailable', 'away')
      return await give(...place)
    })
    await expect(advance(...ends)).rejects.toMatchObject({ code: 'event_log_unavailable' })
    expect([most, read.mock.calls.length]).toEqual([4, 4])
    expect([...(await stored()).keys()].sort()).toEqual([0, 2, 3])
  })

  it('comes back in time, the partitions that are furthest behind first', async () => {
    const partitions = Array.from({ length: 12 }, (_, partition) => seats(1 + partition, partition, 12))
    const { read, advance, stored } = await openReplay(partitions)
    const skipTime = adjustableClock()
    read.mockImplementationOnce(async () => {
      await nextTurn()
      skipTime(1000)
      return { records: [], next: 0 }
    })
    await advance(...partitions.map(({ end }) => end))
    expect([...(await stored()).keys()].sort()).toEqual([10, 8, 9])
    expect(read).toHaveBeenCalledTimes(4)
  })

  it('leaves a turn of the event loop to everything else with each page', async () => {
    const { upTo } = await openReplay([seats(90)], 30)
    let [turns, isDone] = [0, false]
    const counting = (async () => {
      for (; !isDone; turns++) await nextTurn()
    })()
    await upTo(90)
    isDone = true
    await counting
    expect(turns).toBeGreaterThanOrEqual(3)
  })

  it('takes nothing more once it is to end, and breaks off a discard', async () => {
    const waiting = Array.from({ length: 2000 }, (_, i) =>
      bookingEvent(i % 2 === 0 ? 'BookingPlaced' : 'BookingCancelled', 1, 1 + Math.floor(i / 2), 3 + i),
    )
    const records = logOf([seatAdded({ id: 1 }), newerEvent('1', 2), ...waiting, discard('1', 1)])
    const { give, read, start, upTo, stored } = await openReplay([{ records, end: records.length }])
    await upTo(records.length - 1)
    const [before, ending] = [await stored(), new AbortController()]
    read.mockClear()
    read.mockImplementation(async (...place) => {
      if (read.mock.calls.length === 2) ending.abort()
      return await give(...place)
    })
    for (const _ of ['discarding', 'ended before it begins']) {
      expect(await start(ending.signal).advance(before, new Map([[0, records.length]]))).toBe(before)
      expect(read).toHaveBeenCalledTimes(2)
    }
    expect(await stored()).toEqual(before)
  })
})
