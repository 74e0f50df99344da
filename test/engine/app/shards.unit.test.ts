import { pino } from 'pino'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { openReadSide, startProjectors, trackShards, watchLag } from '../../../src/engine/app/shards.ts'
import type { ReadModel } from '../../../src/engine/read-models/read-model.ts'
import { type Stores, shardsOf } from '../../../src/engine/read-models/shards.ts'
import { rebuild } from '../../../src/engine/rebuilding/rebuild.ts'
import { verify } from '../../../src/engine/rebuilding/verify.ts'
import { MemoryData } from '../../../src/engine/testing/memory/memory-data.ts'
import { MemoryEventLog, MemoryLogData } from '../../../src/engine/testing/memory/memory-event-log.ts'
import { asText, seatAdded } from '../projector/records.ts'
import { numbers } from '../read-models/contract/values.ts'
import { memoryReadModels } from '../read-models/memory-read-models.ts'
import { stopClock } from '../read-models/scripted-store.ts'
import { theatre } from '../theatre/theatre.ts'

const logger = pino({ level: 'silent' })
const until = { timeout: 10_000, interval: 5 }
const partitions = 7

/** Everything of a service but HTTP, with so many seats in the log. */
async function start(shards: number, seats: number) {
  const log = new MemoryEventLog(new MemoryLogData(partitions))
  const data = Array.from({ length: shards }, () => new MemoryData())
  const stores = data.map((each) => memoryReadModels(each)) as unknown as Stores
  const append = async (ids: readonly number[]) => {
    for (const id of ids) {
      await log.append(log.partitionFor(String(id)), asText([seatAdded({ id }, { eventId: `event ${id}` })]))
    }
  }
  await append(numbers(seats))
  const tracked = trackShards({ stores, log }, logger)
  const projectors = await startProjectors(theatre, tracked, 'projector', logger)
  const reads = openReadSide(tracked, log, theatre.names)
  onTestFinished(async () => {
    await projectors.close()
    reads.close()
    await Promise.all(tracked.map(({ tracker }) => tracker.close()))
  })
  return { log, data, stores, tracked, projectors, reads, append }
}

async function allIds(model: ReadModel): Promise<number[]> {
  const ids: number[] = []
  let after: number | undefined = 0
  while (after !== undefined) {
    const page: Awaited<ReturnType<ReadModel['page']>> = await model.page({ collection: 'seats', after, limit: 9 })
    ids.push(...JSON.parse(`[${page.documents}]`).map(({ id }: { id: number }) => id))
    after = page.last
  }
  return ids
}

describe.each([1, 3])('%d shards', (shards) => {
  it('have the partitions that are theirs, and together everything', async () => {
    const { stores, projectors, reads, append } = await start(shards, 60)
    await append(numbers(20, 61))
    await vi.waitFor(async () => expect(await allIds(reads.readModel)).toEqual(numbers(80)), until)
    expect(projectors.state).toEqual({ status: 'up', partitions: numbers(partitions, 0) })
    expect(reads.state).toMatchObject({ status: 'up' })
    for (const [shard, { generations }] of stores.entries()) {
      const checkpoints = await generations.checkpoints((await generations.active())?.name ?? '')
      const own = numbers(partitions, 0).filter((partition) => partition % shards === shard)
      expect([...(checkpoints?.keys() ?? [])].sort()).toEqual(own)
    }
  })

  it('are rebuilt and verified one by one', async () => {
    const { log: whole, stores, reads } = await start(shards, 40)
    await vi.waitFor(async () => expect(await allIds(reads.readModel)).toHaveLength(40), until)
    for (const { store, log } of shardsOf(stores, whole)) {
      expect(await rebuild({ store, log, definition: theatre, logger })).toBe('activated')
      const options = { store, log, scratch: memoryReadModels(), definition: theatre, logger }
      expect((await verify(options)).differences).toEqual([])
    }
    await vi.waitFor(async () => expect(await allIds(reads.readModel)).toEqual(numbers(40)), until)
  })

  it.each<[what: string, damage: (data: MemoryData) => void]>([
    ['is emptied', (data) => data.versions.clear()],
    ['lost a seat', (data) => void data.version('v1').inState('active')?.documents('seats').delete(idOf(0))],
  ])(
    'one that %s is filled again, and until then nobody is told that one of its seats is not there',
    async (_, damage) => {
      const { data, reads } = await start(shards, 50)
      await vi.waitFor(async () => expect(await allIds(reads.readModel)).toHaveLength(50), until)
      const [id, refused, wrong] = [idOf(0), new Set<string>(), [] as unknown[]]
      if (data[0] !== undefined) damage(data[0])
      await vi.waitFor(async () => {
        const read = [reads.readModel.find({ collection: 'seats', id }), allIds(reads.readModel)] as const
        const [found, listed] = await Promise.allSettled(read)
        for (const each of [found, listed]) if (each.status === 'rejected') refused.add(each.reason.code)
        if (found.status === 'fulfilled' && found.value.document === undefined) wrong.push('not found')
        if (listed.status === 'fulfilled' && listed.value.length !== 50) wrong.push(listed.value)
        expect([found.status, listed.status]).toEqual(['fulfilled', 'fulfilled'])
        expect(reads.state.status).toBe('up')
      }, until)
      expect(wrong).toEqual([])
      expect([...refused]).toEqual(['read_model_rebuilding'])
    },
  )
})

it('shards tell the lag of every partition, and of none while a shard is without read models', async () => {
  const { data, tracked, projectors } = await start(3, 40)
  const watched = watchLag(tracked, 30_000, projectors)
  onTestFinished(() => watched.close())
  const behind = () => {
    const { lag } = watched
    return lag.status === 'known' ? lag.partitions.map(({ events }) => events) : lag.reason
  }
  await vi.waitFor(() => expect(behind()).toEqual(Array(partitions).fill(0)), until)
  expect(watched.stalls).toEqual([])
  await projectors.close()
  data.at(-1)?.versions.clear()
  await vi.waitFor(() => expect(behind()).toBe('no read models have been started'), until)
})

it('ask each store one thing a second, for tracker, lag, health and repair together', async () => {
  stopClock()
  const { tracked, projectors, stores, reads } = await start(3, 20)
  const watched = watchLag(tracked, 30_000, projectors)
  onTestFinished(() => watched.close())
  await vi.advanceTimersByTimeAsync(3000)
  expect([watched.lag.status, reads.state.status]).toEqual(['known', 'up'])
  const asked: string[] = []
  for (const [shard, { generations }] of stores.entries()) {
    for (const method of ['look', 'active', 'checkpoints', 'all', 'versions'] as const) {
      const ask = generations[method] as () => Promise<never>
      vi.spyOn(generations, method as 'look').mockImplementation(() => {
        asked.push(`${method} of ${shard}`)
        return ask()
      })
    }
  }
  for (let second = 0; second < 10; second++) {
    await vi.advanceTimersByTimeAsync(1000)
    expect(asked.splice(0).sort()).toEqual(['look of 0', 'look of 1', 'look of 2'])
  }
})

it('a set that a read finds incomplete is reported by that read', async () => {
  const { tracked, stores, reads } = await start(1, 5)
  await vi.waitFor(async () => expect(await allIds(reads.readModel)).toHaveLength(5), until)
  const generation = reads.readModel.generationOf(0)
  const report = vi.spyOn((tracked[0] as (typeof tracked)[0]).incomplete, 'report')
  const stored = await stores[0].reads.page(generation ?? '', { collection: 'seats', after: 0, limit: 9 })
  const isMissed = { ...stored, proof: { ...stored.proof, isComplete: false } }
  vi.spyOn(stores[0].reads, 'page').mockResolvedValueOnce(isMissed)
  await expect(allIds(reads.readModel)).rejects.toMatchObject({ code: 'read_model_rebuilding' })
  expect(report).toHaveBeenCalledExactlyOnceWith(generation, undefined)
})

it('a set that nobody reads is missed all the same: replaced at once, and the replacement only after a pause', async () => {
  const { data, tracked, reads } = await start(3, 40)
  await vi.waitFor(async () => expect(await allIds(reads.readModel)).toHaveLength(40), until)
  const [, second] = data
  const active = () => second?.version('v1').inState('active')
  const before = active()?.name
  active()?.documents('seats').clear()
  await vi.waitFor(() => expect(active()?.name).not.toBe(before), until)
  await vi.waitFor(() => expect(reads.state.status).toBe('up'), until)
  expect(await allIds(reads.readModel)).toEqual(numbers(40))

  const after = active()?.name
  const generations = [0, 1, 2].map((partition) => reads.readModel.generationOf(partition))
  expect(generations).toEqual(data.map((each) => each.version('v1').inState('active')?.name))
  active()?.documents('seats').clear()
  const states = [{ status: 'up' }, { status: 'incomplete', generation: after }, { status: 'up' }]
  await vi.waitFor(() => expect(reads.state).toMatchObject({ status: 'degraded', shards: states }), until)
  expect(tracked.map(({ incomplete }) => incomplete.count)).toEqual([0, 2, 0])
  expect(active()?.name).toBe(after)
})

/** A seat of partition 0, which shard 0 has however many there are. */
function idOf(partition: number): number {
  const log = new MemoryEventLog(new MemoryLogData(partitions))
  return numbers(50).find((id) => log.partitionFor(String(id)) === partition) ?? 0
}
