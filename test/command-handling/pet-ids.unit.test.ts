import { describe, expect, it } from 'vitest'
import { PetIds } from '../../src/command-handling/pet-ids.ts'
import { ServiceError } from '../../src/lib/errors.ts'

/** Blocks as a log hands them out, shared by any number of processes. */
function blockSource(partitions: number) {
  let claimed = 0
  return {
    partitions,
    partitionFor: (key: string) => Number(key) % partitions,
    claimBlock: async () => ++claimed,
    claimed: () => claimed,
  }
}

async function draw(ids: PetIds, partition: number): Promise<number> {
  for (;;) {
    const id = ids.draw(partition)
    if (id !== undefined) return id
    await ids.refill()
  }
}

describe('pet ids', () => {
  it('are never drawn twice, over blocks and processes, and belong to the partition asked for', async () => {
    const log = blockSource(3)
    const processes = [new PetIds(log), new PetIds(log)]
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
    const ids = new PetIds(blockSource(1))
    const drawn = await Promise.all(Array.from({ length: 25_000 }, () => draw(ids, 0)))
    expect(new Set(drawn).size).toBe(25_000)
  })

  it('the next block is claimed before the present one runs out', async () => {
    const log = blockSource(1)
    const ids = new PetIds(log)
    await draw(ids, 0)
    expect(log.claimed()).toBe(1)
    for (let i = 0; i < 6000; i++) ids.draw(0)
    expect(log.claimed()).toBe(2)
  })

  it('a block that could not be claimed fails the draw and is claimed anew by the next', async () => {
    const log = blockSource(1)
    let available = false
    const flaky = {
      ...log,
      claimBlock: async () => {
        if (!available) throw new ServiceError('event_log_unavailable', 'away')
        return log.claimBlock()
      },
    }
    const ids = new PetIds(flaky)
    await expect(draw(ids, 0)).rejects.toMatchObject({ code: 'event_log_unavailable' })
    available = true
    expect(await draw(ids, 0)).toBe(1)
  })
})
