import fc from 'fast-check'
import { describe, expect, it, vi } from 'vitest'
import type { RecordBatch, Subscriber } from '../../../src/engine/log/event-log.ts'
import type { PageQuery } from '../../../src/engine/read-models/ports/reads.ts'
import type { ReadModelStore } from '../../../src/engine/read-models/ports/store.ts'
import type { AtLeast, Page, ReadModel } from '../../../src/engine/read-models/read-model.ts'
import { ShardedReadModel, shardNamed, shardsOf, shardVersions } from '../../../src/engine/read-models/shards.ts'
import { MemoryEventLog, MemoryLogData } from '../../../src/engine/testing/memory/memory-event-log.ts'
import { names } from './contract/samples.ts'
import { numbers } from './contract/values.ts'
import { all, openProven, ScriptedStore } from './scripted-store.ts'

it.each([
  ['seats-2', { shard: 0, shards: 1 }],
  ['seats-2.s3-0', { shard: 0, shards: 3 }],
  ['seats-2.s256-255', { shard: 255, shards: 256 }],
  ['seats-2.s3-3', { shard: 0, shards: 1 }],
])('the version %s names its shard', (version, expected) => {
  expect(shardNamed(version)).toEqual(expected)
})

it.each([1, 2, 256])('the versions of %i shards name each in turn', (shards) => {
  expect(shardVersions('seats-2', shards).map(shardNamed)).toEqual(
    numbers(shards, 0).map((shard) => ({ shard, shards })),
  )
})

/** A log of five partitions in the hands of a test. */
function openLog() {
  const subscribers: Subscriber[] = []
  const subscription = { seek: vi.fn(), close: vi.fn() }
  const subscribe = vi.fn(async (_group: string, subscriber: Subscriber) => {
    subscribers.push(subscriber)
    return subscription
  })
  const read = async (_partition: number, next: number) => ({ records: [], next })
  const confirm = async () => {}
  const log = { logId: 'log', endOffsets: async () => [9, 8, 7, 6, 5], partitionFor: Number, read, confirm, subscribe }
  return { log, subscribers, subscription }
}

function openSubscriber() {
  return { assigned: vi.fn(), batch: vi.fn(async (_: RecordBatch) => true) }
}

const [one, other] = [{} as ReadModelStore, {} as ReadModelStore]
const batchOf = (partition: number) => ({ partition, from: 0, records: [], next: 1 })

it('one shard has the log as it is', () => {
  const { log } = openLog()
  expect(shardsOf([one], log)[0]?.log).toBe(log)
})

it('each shard sees its own partitions of the log', async () => {
  const { log } = openLog()
  const [even, odd] = shardsOf([one, other], log)
  expect([even?.store, odd?.store, even?.log.logId, odd?.log.partitionFor('4')]).toEqual([one, other, 'log', 4])
  expect([await even?.log.endOffsets(), await odd?.log.endOffsets()]).toEqual([
    [9, 0, 7, 0, 5],
    [0, 8, 0, 6, 0],
  ])
})

it('shards on one subscription begin together, and each has the batches of its partitions', async () => {
  const { log, subscribers, subscription } = openLog()
  const shards = shardsOf([one, other], log)
  const parts = shards.map(({ log: own }) => ({ ...openSubscriber(), own }))
  const [even, odd] = parts
  const first = even?.own.subscribe('group', even)
  expect(log.subscribe).not.toHaveBeenCalled()
  expect(await Promise.all([first, odd?.own.subscribe('group', odd)])).toEqual([subscription, subscription])
  expect(log.subscribe).toHaveBeenCalledTimes(1)
  subscribers[0]?.assigned([0, 1, 2, 3])
  odd?.batch.mockResolvedValue(false)
  expect(await Promise.all([2, 3].map((partition) => subscribers[0]?.batch(batchOf(partition))))).toEqual([true, false])
  expect([even?.assigned.mock.calls, odd?.assigned.mock.calls]).toEqual([[[[0, 2]]], [[[1, 3]]]])
  expect([even?.batch.mock.calls, odd?.batch.mock.calls]).toEqual([[[batchOf(2)]], [[batchOf(3)]]])
})

const memoryLog = new MemoryEventLog(new MemoryLogData(6))
const partitionFor = (key: string) => memoryLog.partitionFor(key)
/** Read models of stores with these documents, each in the shard of its id; those of one shard may be away. */
function openSharded(shards: number, ids: readonly number[], away?: number) {
  const stores = Array.from({ length: shards }, () => new ScriptedStore())
  for (const id of ids) stores[partitionFor(String(id)) % shards]?.store(id, partitionFor(String(id)), id)
  const parts = stores.map((store) => openProven([], store))
  if (away !== undefined) stores[away]?.disconnect()
  const model = new ShardedReadModel(
    parts.map((part) => part.model),
    memoryLog,
    names,
  )
  const up = () => Promise.all(parts.map(({ until }, at) => until(at === away ? 'down' : 'up')))
  return { stores, model, up }
}

it('the pages are those of one store, however many shards there are', async () => {
  const ids = fc.uniqueArray(fc.integer({ min: 1, max: 60 }), { maxLength: 40 })
  const limit = fc.integer({ min: 1, max: 12 })
  await fc.assert(
    fc.asyncProperty(ids, fc.integer({ min: 2, max: 7 }), fc.nat(70), limit, async (ids, shards, first, limit) => {
      const [whole, parts] = [openSharded(1, ids), openSharded(shards, ids)]
      await Promise.all([whole.up(), parts.up()])
      let after: number | undefined = first
      while (after !== undefined) {
        const query: PageQuery = { ...all, after, limit }
        const [expected, page]: Page[] = await Promise.all([whole, parts].map(({ model }) => model.page(query)))
        expect(page).toEqual({ ...expected, reached: page?.reached })
        expect(page?.reached).toHaveLength(shards)
        after = page?.last
      }
    }),
    { numRuns: 30 },
  )
})

it('documents are found by ids as in one store, however many shards there are', async () => {
  const ids = fc.uniqueArray(fc.integer({ min: 1, max: 60 }), { maxLength: 40 })
  const asked = ids.map((some) => some.sort((a, b) => a - b))
  await fc.assert(
    fc.asyncProperty(ids, asked, fc.integer({ min: 2, max: 7 }), async (ids, asked, shards) => {
      const [whole, parts] = [openSharded(1, ids), openSharded(shards, ids)]
      await Promise.all([whole.up(), parts.up()])
      const query: PageQuery = { ...all, limit: asked.length, ids: asked }
      const [expected, page]: Page[] = await Promise.all([whole, parts].map(({ model }) => model.page(query)))
      expect(page).toEqual({ ...expected, last: undefined, reached: page?.reached })
      expect(page?.count).toBe(asked.filter((id) => ids.includes(id)).length)
    }),
    { numRuns: 30 },
  )
})

it('whether something has an id is told as by one store, however many shards there are', async () => {
  const ids = fc.uniqueArray(fc.integer({ min: 1, max: 60 }), { maxLength: 10 })
  const first = fc.integer({ min: 1, max: 60 })
  await fc.assert(
    fc.asyncProperty(ids, first, fc.nat(20), fc.integer({ min: 2, max: 7 }), async (ids, first, more, shards) => {
      const { model, up } = openSharded(shards, ids)
      await up()
      const last = first + more
      const expected = ids.some((id) => id >= first && id <= last)
      expect(await model.holdsAny({ collections: ['seats'], first, last })).toBe(expected)
    }),
    { numRuns: 30 },
  )
})

it('streams of two kinds with one id are asked of the shards of their record keys, as are their documents', async () => {
  const shards = numbers(6, 0).map(() => openProven().model)
  const spies = shards.map((model) => ({ find: vi.spyOn(model, 'find'), loadAll: vi.spyOn(model, 'loadAll') }))
  const sharded = new ShardedReadModel(shards, memoryLog, names)
  const documents = ['seats', 'halls', 'bookings'].map((collection) => ({ collection, id: 7 }))
  await Promise.allSettled(documents.map((document) => sharded.find(document)))
  await Promise.allSettled([
    sharded.loadAll([{ stream: '7' }, { stream: 'halls/7' }]),
    sharded.loadAll(documents.map((document) => ({ document }))),
  ])
  const asked = spies.flatMap(({ find, loadAll }, shard) => [
    ...find.mock.calls.map(([{ collection, id }]) => [`${collection} ${id}`, shard] as const),
    ...loadAll.mock.calls
      .flatMap(([queries]) => queries)
      .map(({ stream, document }) => [stream ?? `${document?.collection} row`, shard] as const),
  ])
  const [seat, hall] = [partitionFor('7'), partitionFor('halls/7')]
  expect(seat).not.toBe(hall)
  expect(Object.fromEntries(asked)).toEqual({
    ...{ 'seats 7': seat, 'halls 7': hall, 'bookings 7': seat },
    ...{ 7: seat, 'halls/7': hall, 'seats row': seat, 'halls row': hall, 'bookings row': seat },
  })
})

describe('with a shard away', () => {
  const [one = 0, other = 0] = [0, 1].map((shard) =>
    [1, 2, 3, 4, 5, 6].find((id) => partitionFor(String(id)) % 2 === shard),
  )
  const key = (id: number) => ({ partition: partitionFor(String(id)), key: 'k' })
  const reads: Record<string, (model: ReadModel, id: number) => Promise<unknown>> = {
    'a document': (model, id) => model.find({ collection: 'seats', id }),
    'a stream': (model, id) => model.load({ stream: String(id), key: key(one) }),
    'the stream of a document': (model, id) => model.load({ document: { collection: 'bookings', id } }),
    'an idempotency key': (model, id) => model.load({ key: key(id) }),
    'two streams': (model, id) => model.loadAll([{ stream: String(id) }, { stream: String(id) }]),
  }
  it.each(Object.entries(reads))('%s is read in the other one, with one read', async (_, read) => {
    const { model, stores, up } = openSharded(2, [one, other], 0)
    await up()
    await read(model, other)
    expect(stores.map(({ asked }) => asked.reads)).toEqual([0, 1])
    await expect(read(model, one)).rejects.toMatchObject({ code: 'read_model_unavailable' })
  })

  it('there is no page', async () => {
    const { model, up } = openSharded(2, [one, other], 0)
    await up()
    await expect(model.page(all)).rejects.toMatchObject({ code: 'read_model_unavailable' })
  })

  it('a position is waited for in the other one', async () => {
    const { model, up } = openSharded(2, [one, other], 0)
    await up()
    const applied = [one, other].map((id) => model.whenApplied({ ...key(id), offset: 0 }, { timeoutMs: 0 }))
    expect(await Promise.all(applied)).toEqual(['late', 'unheard'])
  })
})

it('each shard is held to the positions of its own partitions', async () => {
  const asked: (AtLeast | undefined)[] = []
  const shards = [0, 1, 2].map((shard) => {
    const { model } = openProven()
    model.page = async (_, atLeast) => {
      asked[shard] = atLeast
      return { documents: '', count: 0, last: undefined, reached: [] }
    }
    return model
  })
  const wait = { timeoutMs: 5 }
  const [fourth, second, first] = [4, 2, 1].map((partition) => ({ partition, offset: 7 }))
  const positions = [fourth, second, first].flatMap((each) => each ?? [])
  await new ShardedReadModel(shards, memoryLog, names).page(all, { positions, wait })
  expect(asked).toEqual([undefined, { positions: [fourth, first], wait }, { positions: [second], wait }])
})
