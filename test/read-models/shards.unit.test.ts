import { expect, it, vi } from 'vitest'
import type { RecordBatch, Subscriber } from '../../src/event-log/event-log.ts'
import { shardNamed, shardsOf, shardsOnOneSubscription } from '../../src/read-models/shards.ts'
import type { ReadModelStore } from '../../src/read-models/store.ts'

it.each([
  ['pets-2', { shard: 0, shards: 1 }],
  ['pets-2.s3-0', { shard: 0, shards: 3 }],
  ['pets-2.s256-255', { shard: 255, shards: 256 }],
  ['pets-2.s3-3', { shard: 0, shards: 1 }],
])('the version %s names its shard', (version, expected) => {
  expect(shardNamed(version)).toEqual(expected)
})

/** A log of five partitions in the hands of a test. */
function openLog() {
  const subscribers: Subscriber[] = []
  const subscription = { seek: vi.fn(), close: vi.fn() }
  const subscribe = vi.fn(async (_group: string, subscriber: Subscriber) => {
    subscribers.push(subscriber)
    return subscription
  })
  const log = { logId: 'log', endOffsets: async () => [9, 8, 7, 6, 5], partitionFor: Number, subscribe }
  return { log, subscribers, subscription }
}

function openSubscriber() {
  return { assigned: vi.fn(), batch: vi.fn(async (_: RecordBatch) => true) }
}

const [one, other] = [{} as ReadModelStore, {} as ReadModelStore]
const batchOf = (partition: number) => ({ partition, from: 0, records: [], next: 1 })

it('one shard has the log as it is', () => {
  const { log } = openLog()
  for (const shards of [shardsOf([one], log), shardsOnOneSubscription([one], log)]) {
    expect(shards).toEqual([{ store: one, log }])
    expect(shards[0]?.log).toBe(log)
  }
})

it('each shard sees its own partitions of the log', async () => {
  const { log, subscribers } = openLog()
  const [even, odd] = shardsOf([one, other], log)
  expect([even?.store, odd?.store, even?.log.logId, odd?.log.partitionFor('4')]).toEqual([one, other, 'log', 4])
  expect([await even?.log.endOffsets(), await odd?.log.endOffsets()]).toEqual([
    [9, 0, 7, 0, 5],
    [0, 8, 0, 6, 0],
  ])
  const subscriber = openSubscriber()
  await odd?.log.subscribe('group', subscriber)
  subscribers[0]?.assigned([0, 1, 2, 3])
  expect(subscriber.assigned).toHaveBeenCalledWith([1, 3])
  expect(await Promise.all([0, 1].map((partition) => subscribers[0]?.batch(batchOf(partition))))).toEqual([false, true])
  expect(subscriber.batch.mock.calls).toEqual([[batchOf(1)]])
})

it('shards on one subscription begin together, and each has the batches of its partitions', async () => {
  const { log, subscribers, subscription } = openLog()
  const shards = shardsOnOneSubscription([one, other], log)
  const parts = shards.map(({ log: own }) => ({ ...openSubscriber(), own }))
  const [even, odd] = parts
  const first = even?.own.subscribe('group', even)
  expect(log.subscribe).not.toHaveBeenCalled()
  expect(await Promise.all([first, odd?.own.subscribe('group', odd)])).toEqual([subscription, subscription])
  expect(log.subscribe).toHaveBeenCalledTimes(1)
  subscribers[0]?.assigned([2, 3])
  odd?.batch.mockResolvedValue(false)
  expect(await Promise.all([2, 3].map((partition) => subscribers[0]?.batch(batchOf(partition))))).toEqual([true, false])
  expect([even?.assigned.mock.calls, odd?.assigned.mock.calls]).toEqual([[[[2]]], [[[3]]]])
  expect([even?.batch.mock.calls, odd?.batch.mock.calls]).toEqual([[[batchOf(2)]], [[batchOf(3)]]])
})
