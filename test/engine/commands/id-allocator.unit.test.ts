import { describe, expect, it, vi } from 'vitest'
import { IdAllocator, leftoversMax } from '../../../src/engine/commands/id-allocator.ts'
import { ServiceError } from '../../../src/engine/lib/errors/errors.ts'
import { partitionOf } from '../../../src/engine/log/kafka/default-partitioner.ts'
import { unseenBlocks } from './unseen-blocks.ts'

/** Blocks as a log hands them out, shared by any number of processes. */
function blockSource(partitions: number) {
  let reserved = 0
  return {
    partitions,
    partitionFor: (key: string) => Number(key) % partitions,
    reserveIdBlock: async () => ++reserved,
    reserved: () => reserved,
  }
}

function allocator(log: ReturnType<typeof blockSource>): IdAllocator {
  return new IdAllocator(log, unseenBlocks(log))
}

async function draw(ids: IdAllocator, partition: number, prefix?: string): Promise<number> {
  for (;;) {
    const id = ids.draw(partition, prefix)
    if (id !== undefined) return id
    await ids.refill()
  }
}

describe('ids', () => {
  it('are never drawn twice, over blocks and processes, and belong to the partition asked for', async () => {
    const log = blockSource(3)
    const processes = [allocator(log), allocator(log)]
    const drawn = new Set<number>()
    for (let i = 0; i < 30_000; i++) {
      for (const ids of processes) {
        const id = await draw(ids, i % 3)
        expect(id % 3).toBe(i % 3)
        drawn.add(id)
      }
    }
    expect(drawn.size).toBe(60_000)
    expect(Math.min(...drawn)).toBe(1)
  })

  it('stay unique when draws wait for a block at the same time', async () => {
    const ids = allocator(blockSource(1))
    const drawn = await Promise.all(Array.from({ length: 25_000 }, () => draw(ids, 0)))
    expect(new Set(drawn).size).toBe(25_000)
  })

  it('of other partitions are kept up to a limit, so that unused ids do not accumulate', async () => {
    const log = blockSource(2)
    const ids = allocator(log)
    for (let i = 0; i < 20_000; i++) await draw(ids, 0)
    const lastBlock = log.reserved()
    const left = []
    for (let id = ids.draw(1); id !== undefined; id = ids.draw(1)) left.push(id)
    expect(left.length).toBeGreaterThanOrEqual(leftoversMax)
    expect(left.length).toBeLessThanOrEqual(leftoversMax + 5000)
    expect(lastBlock).toBeGreaterThanOrEqual(4)
  })

  it('come from a block that is reserved before the present one runs out', async () => {
    const log = blockSource(1)
    const ids = allocator(log)
    await draw(ids, 0)
    expect(log.reserved()).toBe(1)
    for (let i = 0; i < 6000; i++) ids.draw(0)
    expect(log.reserved()).toBe(2)
  })

  it('come from a block that is reserved before the first is needed, where that is asked for, and once', async () => {
    const log = blockSource(1)
    const ids = allocator(log)
    ids.prepare()
    ids.prepare()
    expect(log.reserved()).toBe(1)
    expect(await draw(ids, 0)).toBe(1)
    ids.prepare()
    expect(log.reserved()).toBe(1)
  })

  it('of a block that is given up are replaced at once, before anybody draws', async () => {
    const log = blockSource(1)
    const ids = allocator(log)
    ids.abandonBlockOf(await draw(ids, 0))
    expect(log.reserved()).toBe(2)
  })

  it('are needed, as the source of the blocks is told, only where somebody waits for them', async () => {
    const needed = vi.fn()
    const reserve = () => ({ block: Promise.resolve(1), need: needed })
    const ids = new IdAllocator(blockSource(1), { reserve })
    ids.prepare()
    expect(ids.draw(0)).toBeUndefined()
    expect(needed).not.toHaveBeenCalled()
    await ids.refill()
    expect(needed).toHaveBeenCalledOnce()
  })

  it('of a block that somebody else draws from too are drawn no more', async () => {
    const log = blockSource(3)
    const ids = allocator(log)
    const first = await draw(ids, 1) // which leaves some of partition 0
    ids.abandonBlockOf(first)
    expect(await draw(ids, 0)).toBeGreaterThan(10_000)
    const next = await draw(ids, 1)
    ids.abandonBlockOf(first)
    expect(await draw(ids, 1)).toBe(next + 3)
  })

  it('of a block that could not be reserved fail the draw, and the next one reserves anew', async () => {
    const log = blockSource(1)
    let isAway = true
    const away = async () => {
      throw new ServiceError('event_log_unavailable', 'away')
    }
    const ids = new IdAllocator(log, unseenBlocks({ reserveIdBlock: () => (isAway ? away() : log.reserveIdBlock()) }))
    await expect(draw(ids, 0)).rejects.toMatchObject({ code: 'event_log_unavailable' })
    isAway = false
    expect(await draw(ids, 0)).toBe(1)
  })

  describe('of two kinds of streams', () => {
    const [partitions, prefixes] = [3, ['', 'halls/']] as const
    const log = () => ({ ...blockSource(partitions), partitionFor: (key: string) => partitionOf(key, partitions) })

    it('are drawn once over both, and each lies in the partition of its record key', async () => {
      const source = log()
      const processes = [allocator(source), allocator(source)]
      const drawn = new Set<number>()
      for (let i = 0; i < 9000; i++) {
        const [ids, prefix, partition] = [processes[i % 2], prefixes[(i >> 1) % 2], (i >> 2) % partitions]
        if (ids === undefined) throw new RangeError(`process ${i % 2}`)
        const id = await draw(ids, partition, prefix)
        expect(partitionOf(`${prefix}${id}`, partitions)).toBe(partition)
        drawn.add(id)
      }
      expect(drawn.size).toBe(9000)
    })

    it('are kept apart: what drawing for one leaves is of the other never', async () => {
      const ids = allocator(log())
      const seat = await draw(ids, 0)
      const halls = await Promise.all([0, 1, 2].map((partition) => draw(ids, partition, 'halls/')))
      expect(Math.min(...halls)).toBeGreaterThan(seat)
      for (const [partition, id] of halls.entries()) expect(partitionOf(`halls/${id}`, partitions)).toBe(partition)
      const others = await Promise.all([1, 2].map((partition) => draw(ids, partition)))
      expect(new Set([seat, ...halls, ...others]).size).toBe(6)
    })

    it('are given up together, with the block that they are of', async () => {
      const ids = allocator(log())
      const [seat, hall] = [await draw(ids, 0), await draw(ids, 1, 'halls/')]
      ids.abandonBlockOf(hall)
      const next = await Promise.all(
        prefixes.flatMap((prefix) => [0, 1, 2].map((partition) => draw(ids, partition, prefix))),
      )
      expect(seat).toBeLessThan(10_000)
      expect(Math.min(...next)).toBeGreaterThan(10_000)
    })
  })
})
