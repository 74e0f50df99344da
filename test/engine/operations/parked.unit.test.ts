import { expect, it } from 'vitest'
import { allParked, parkedStreams } from '../../../src/engine/operations/parked.ts'
import { behindParked } from '../../../src/engine/projector/classify.ts'
import { memoryFixture } from '../read-models/contract/canaries.ts'
import {
  applyAll,
  firstBatch,
  parkedItem,
  parkedStream,
  started,
  textChanges,
} from '../read-models/contract/samples.ts'
import { numbers } from '../read-models/contract/values.ts'

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

it('the streams are listed with how many events wait behind the first of each', async () => {
  const streams = await parkedStreams([await shardWith(3), await shardWith(10)])
  const inOrder = [3, 10].flatMap((partition) =>
    numbers(1200).flatMap((n) => [
      { partition, first: 3 * n - 2, stream: `${partition}/${n}`, reason: 'no name', waiting: 0 },
      ...(n === 1 ? [{ partition, first: 3, stream: 'long', reason: 'no name', waiting: 1199 }] : []),
    ]),
  )
  expect(streams).toEqual(inOrder)
})
