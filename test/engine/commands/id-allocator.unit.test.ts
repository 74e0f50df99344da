import { describe, expect, it } from 'vitest'
import { IdAllocator, leftoversMax } from '../../../src/engine/commands/id-allocator.ts'
import { ServiceError } from '../../../src/engine/lib/errors.ts'

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

async function draw(ids: IdAllocator, partition: number): Promise<number> {
  for (;;) {
    const id = ids.draw(partition)
    if (id !== undefined) return id
    await ids.refill()
  }
}

describe('ids', () => {
  it('are never drawn twice, over blocks and processes, and belong to the partition asked for', async () => {
    const log = blockSource(3)
    const processes = [new IdAllocator(log), new IdAllocator(log)]
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
    const ids = new IdAllocator(blockSource(1))
    const drawn = await Promise.all(Array.from({ length: 25_000 }, () => draw(ids, 0)))
    expect(new Set(drawn).size).toBe(25_000)
  })

  it('of other partitions are kept up to a limit, so that unused ids do not accumulate', async () => {
    const log = blockSource(2)
    const ids = new IdAllocator(log)
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
    const ids = new IdAllocator(log)
    await draw(ids, 0)
    expect(log.reserved()).toBe(1)
    for (let i = 0; i < 6000; i++) ids.draw(0)
    expect(log.reserved()).toBe(2)
  })

  it('of a block that somebody else draws from too are drawn no more', async () => {
    const log = blockSource(3)
    const ids = new IdAllocator(log)
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
    const ids = new IdAllocator({ ...log, reserveIdBlock: () => (isAway ? away() : log.reserveIdBlock()) })
    await expect(draw(ids, 0)).rejects.toMatchObject({ code: 'event_log_unavailable' })
    isAway = false
    expect(await draw(ids, 0)).toBe(1)
  })
})
