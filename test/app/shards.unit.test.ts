import { pino } from 'pino'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { pets } from '../../projections/pets.ts'
import { watchLag } from '../../src/app/lag.ts'
import { startProjectors } from '../../src/app/projectors.ts'
import { openReadSide } from '../../src/app/read-side.ts'
import { PetReads } from '../../src/domain/read-pets.ts'
import { rebuild } from '../../src/projector/rebuild.ts'
import { verify } from '../../src/projector/verify.ts'
import { type Shards, shardsOf } from '../../src/read-models/shards.ts'
import { MemoryEventLog, MemoryLogData } from '../event-log/memory-event-log.ts'
import { petCreated } from '../projector/records.ts'
import { MemoryData } from '../read-models/memory-data.ts'
import { MemoryReadModels } from '../read-models/memory-read-models.ts'

const logger = pino({ level: 'silent' })
const until = { timeout: 10_000, interval: 5 }
const partitions = 7

function openWorld(shards: number) {
  const logData = new MemoryLogData(partitions)
  const log = new MemoryEventLog(logData)
  const data = Array.from({ length: shards }, () => new MemoryData())
  const stores = data.map((each) => new MemoryReadModels(each)) as unknown as Shards
  const storage = { log, stores, group: 'projector' }
  async function start() {
    const projectors = await startProjectors(storage, logger)
    onTestFinished(() => projectors.close())
    return projectors
  }
  function read() {
    const side = openReadSide(stores, log)
    onTestFinished(() => side.close())
    return { side, reads: new PetReads(side.reads) }
  }
  /** With the service's partitioner, or everything in one partition. */
  function append(ids: readonly number[], partition?: number): void {
    for (const id of ids) logData.add(partition ?? log.partitionFor(String(id)), [petCreated(0, { id })])
  }
  return { log, data, stores, start, read, append }
}

function idsFrom(first: number, count: number): number[] {
  return Array.from({ length: count }, (_, i) => first + i)
}

async function allIds(reads: PetReads): Promise<number[]> {
  const ids: number[] = []
  for (let after: number | undefined = 0; after !== undefined; ) {
    const page = await reads.page({ after, limit: 9 })
    ids.push(...JSON.parse(page.json).map(({ id }: { id: number }) => id))
    after = page.next
  }
  return ids
}

describe.each([1, 3, 7])('%d shards', (shards) => {
  it('hold the partitions that are theirs, and together everything', async () => {
    const { stores, start, read, append } = openWorld(shards)
    append(idsFrom(1, 100))
    const projectors = await start()
    const { side, reads } = read()
    append(idsFrom(101, 50))
    await vi.waitFor(async () => expect(await allIds(reads)).toEqual(idsFrom(1, 150)), until)
    expect(projectors.state).toEqual({ status: 'up', partitions: idsFrom(0, partitions) })
    expect(side.state).toMatchObject({ status: 'up' })
    for (const [shard, store] of stores.entries()) {
      const checkpoints = await store.checkpoints((await store.active())?.name ?? '')
      const own = idsFrom(0, partitions).filter((partition) => partition % shards === shard)
      expect([...(checkpoints?.keys() ?? [])].sort()).toEqual(own)
    }
  })

  it('tell the lag of every partition, and of none while a shard is without read models', async () => {
    const { log, stores, data, start, append } = openWorld(shards)
    append(idsFrom(1, 40))
    const projectors = await start()
    const { lag, stalls } = watchLag({ log, stores }, 30_000, projectors)
    onTestFinished(() => lag.close())
    const behind = () => (lag.lag.status === 'known' ? lag.lag.partitions.map(({ events }) => events) : lag.lag.reason)
    await vi.waitFor(() => expect(behind()).toEqual(Array(partitions).fill(0)), until)
    expect(stalls?.stalls).toEqual([])
    await projectors.close()
    data.at(-1)?.versions.clear()
    await vi.waitFor(() => expect(behind()).toBe('no read models have been started'), until)
  })

  it('find a pet that its producer put into another partition', async () => {
    const { start, read, append } = openWorld(shards)
    for (const partition of idsFrom(0, partitions)) append([1000 + partition], partition)
    await start()
    const { reads } = read()
    for (const partition of idsFrom(0, partitions)) {
      await vi.waitFor(async () => expect(await reads.find(1000n + BigInt(partition))).toBeDefined(), until)
    }
    expect(await reads.find(5n)).toBeUndefined()
  })

  it('are rebuilt and verified one by one', async () => {
    const { log, stores, start, read, append } = openWorld(shards)
    append(idsFrom(1, 60))
    await start()
    const { reads } = read()
    await vi.waitFor(async () => expect(await allIds(reads)).toHaveLength(60), until)
    for (const parts of shardsOf(stores, log)) {
      expect(await rebuild({ ...parts, definition: pets, group: 'rebuild', logger })).toBe('activated')
      const scratch = new MemoryReadModels(new MemoryData())
      const { differences } = await verify({ ...parts, scratch, definition: pets, group: 'verify', logger })
      expect(differences).toEqual([])
    }
    await vi.waitFor(async () => expect(await allIds(reads)).toEqual(idsFrom(1, 60)), until)
  })
})

describe('a shard that is emptied', () => {
  it('is filled again, and until then nobody is told that one of its pets is not there', async () => {
    const { data, start, read, append } = openWorld(3)
    append(idsFrom(1, 90))
    await start()
    const { side, reads } = read()
    await vi.waitFor(async () => expect(await allIds(reads)).toHaveLength(90), until)
    data[1]?.versions.clear()
    const [refused, wrong] = [new Set<string>(), [] as unknown[]]
    await vi.waitFor(async () => {
      const [found, listed] = await Promise.allSettled([reads.find(BigInt(idOf(1, 3))), allIds(reads)])
      for (const each of [found, listed]) if (each.status === 'rejected') refused.add(each.reason.code)
      if (found.status === 'fulfilled' && found.value === undefined) wrong.push('not found')
      if (listed.status === 'fulfilled' && listed.value.length !== 90) wrong.push(listed.value)
      expect(listed.status).toBe('fulfilled')
      expect(side.state.status).toBe('up')
    }, until)
    expect(wrong).toEqual([])
    expect([...refused]).toEqual(['read_model_rebuilding'])
  })
})

/** A pet of the shard. */
function idOf(shard: number, shards: number): number {
  const log = new MemoryEventLog(new MemoryLogData(partitions))
  return idsFrom(1, 90).find((id) => log.partitionFor(String(id)) % shards === shard) ?? 0
}
