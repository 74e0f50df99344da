import { expect, it } from 'vitest'
import { compileCheck } from '../../../src/engine/lib/values/validation.ts'
import type { NewRecord } from '../../../src/engine/log/event-log.ts'
import { allParked, discard, parkedStreamsIn } from '../../../src/engine/operations/parked.ts'
import type { Batch } from '../../../src/engine/read-models/ports/projection.ts'
import { behindParked } from '../../../src/engine/rule/classify.ts'
import { logger } from '../projector/projecting.ts'
import { memoryFixture } from '../read-models/contract/canaries.ts'
import {
  added,
  applyAll,
  batchAfter,
  firstBatch,
  newGeneration,
  parkedItem,
  parkedStream,
  seat,
  started,
  textChanges,
} from '../read-models/contract/samples.ts'
import { numbers } from '../read-models/contract/values.ts'
import { twoKinds } from '../two-kinds.ts'

/** A shard that tells of everything twice, page by page, as a store may. */
async function shardWith(...partitions: number[]) {
  const fixture = memoryFixture((store) => ({
    ...store,
    inspection: {
      ...store.inspection,
      async scan(...place) {
        const page = await store.inspection.scan(...place)
        return page && { ...page, items: [...page.items.toReversed(), ...page.items] }
      },
    },
  }))
  const { store, generation } = await started(fixture)
  const batches = partitions.map((partition) => {
    const [first, ...waiting] = numbers(1200).map((n) => 3 * n)
    const streams = numbers(1200).map((n) => `${partition}/${n}`)
    const long = parkedItem(parkedStream('long', first ?? 0, partition, waiting.length))
    const chunks = [0, 1, 2].map((n) => [`${n}/long`, `${waiting.slice(500 * n, 500 * n + 500)}`] as const)
    const put = [...streams.map((stream, i) => parkedItem(parkedStream(stream, 3 * i + 1, partition))), long]
    return { ...firstBatch({}, partition), texts: textChanges({ parked: { put }, waiting: { put: chunks } }) }
  })
  await applyAll(store, generation, ...batches)
  return store
}

it('parked events of all shards are listed once each, in the order of the log', async () => {
  const events = await allParked([await shardWith(3), await shardWith(10)])
  const inOrder = [3, 10].flatMap((partition) =>
    numbers(1200).flatMap((n) => [
      { partition, offset: 3 * n - 2, stream: `${partition}/${n}`, reason: 'no name', first: 3 * n - 2 },
      { partition, offset: 3 * n, stream: 'long', reason: n === 1 ? 'no name' : behindParked, first: 3 },
    ]),
  )
  expect(events).toEqual(inOrder)
})

const inOrder = [3, 10].flatMap((partition) =>
  numbers(1200).flatMap((n) => [
    { partition, first: 3 * n - 2, stream: `${partition}/${n}`, reason: 'no name', waiting: 0 },
    ...(n === 1 ? [{ partition, first: 3, stream: 'long', reason: 'no name', waiting: 1199 }] : []),
  ]),
)

it('the streams are listed with how many events wait behind the first of each', async () => {
  const stores = [await shardWith(3), await shardWith(10)] as const
  expect(await parkedStreamsIn(stores, 10_000)()).toEqual({ streams: inOrder, more: 0 })
  expect(await parkedStreamsIn(stores, 2401)()).toEqual({ streams: inOrder.slice(0, 2401), more: 1 })
  expect(await parkedStreamsIn(stores, 7)()).toEqual({ streams: inOrder.slice(0, 7), more: 2395 })
})

it('the streams are read again only once something was parked or discarded', async () => {
  let pages = 0
  const fixture = memoryFixture((store) => ({
    ...store,
    inspection: {
      ...store.inspection,
      scan(...place) {
        pages++
        return store.inspection.scan(...place)
      },
    },
  }))
  const { store, generation } = await started(fixture)
  const look = parkedStreamsIn([store], 10)
  let last: Batch = firstBatch({ parked: ['a', 'b'] })
  async function foundAfter(batch: Batch) {
    last = batch
    pages = 0
    await applyAll(store, generation, batch)
    const streams = (await look()).streams.map(({ stream }) => stream)
    await look()
    return { streams, pages }
  }
  expect(await foundAfter(last)).toEqual({ streams: ['a', 'b'], pages: 1 })
  expect(await foundAfter(batchAfter(last, { documents: added(seat(1)) }))).toEqual({ streams: ['a', 'b'], pages: 0 })
  expect(await foundAfter(batchAfter(last, { parked: ['c'] }))).toEqual({ streams: ['a', 'b', 'c'], pages: 1 })
  expect(await foundAfter(batchAfter(last, { unparked: ['a'] }))).toEqual({ streams: ['b', 'c'], pages: 1 })
  const both = batchAfter(last, { unparked: ['b'], parked: ['d'] })
  const { counts } = both.checkpoint
  const discarding = { ...both, checkpoint: { ...both.checkpoint, counts: { ...counts, discarded: 1 } } }
  expect(await foundAfter(discarding)).toEqual({ streams: ['c', 'd'], pages: 1 })
  const next = newGeneration()
  await store.generations.start(next, generation)
  expect(await look()).toEqual({ streams: [], more: 0 })
})

it.each(['7', 'halls/7', 'other/7'])('a discard in the stream %s is as its schema says', async (stream) => {
  const { store } = await started(memoryFixture())
  const records: NewRecord[] = []
  const log = { append: async (_: number, appended: readonly NewRecord[]) => records.push(...appended) }
  const event = { partition: 3, offset: 12, stream, reason: 'no name', first: 12 }
  await discard(event, { definition: twoKinds, log, stores: [store], logger, actor: 'key 1' })
  const [{ key, value } = { key: '', value: 'null' }] = records
  const { schema } =
    twoKinds.schemas.find(({ type }) => type === 'theatre.EventDiscarded.v1') ?? expect.fail('no schema')
  expect([key, compileCheck(schema)(JSON.parse(value))]).toEqual([stream, undefined])
  expect(JSON.parse(value)).toMatchObject({ source: '/v1/seats', subject: stream, data: { offset: 12 } })
})
