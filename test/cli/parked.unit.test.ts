import { expect, it } from 'vitest'
import { allParked } from '../../src/cli/parked.ts'
import { memoryFixture } from '../read-models/contract/canaries.ts'
import { applyAll, firstBatch, started } from '../read-models/contract/samples.ts'
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
  const batches = partitions.map((partition) => firstBatch({ parked: numbers(1200).map(String) }, partition))
  await applyAll(store, generation, ...batches)
  return { store, parked: batches.flatMap(({ parked }) => parked) }
}

it('parked events of all shards are listed once each, in the order of the log', async () => {
  const [even, odd] = [await shardWith(2, 0), await shardWith(11, 1)]
  const events = await allParked([odd.store, even.store])
  const inOrder = [...even.parked, ...odd.parked].sort((a, b) => a.partition - b.partition || a.offset - b.offset)
  expect(events).toEqual(inOrder)
})
