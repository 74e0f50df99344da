import { expect, it } from 'vitest'
import { partitionOf } from '../../src/engine/log/kafka/default-partitioner.ts'
import { checkDocuments } from './documents.ts'
import type { LogRecord } from './history.ts'
import { a, b, c, HistoryBuilder, order, other, partitions, pet } from './history-builder.ts'

const texts = { changed: JSON.stringify(pet(a, 'pending')), first: JSON.stringify(pet(a)) }

/** Pet a, which has an order, pet b, which is removed, and one that lost to it. */
function history() {
  const built = new HistoryBuilder()
  built.created(pet(a))
  built.created(pet(b))
  built.created(pet(b), { eventId: 'rival' })
  built.removed(pet(b), { version: 2 })
  built.ordered('Placed', order(c, a), { version: 2 })
  return built.history
}

function told(id: number, value: string | null, partition = 0): LogRecord {
  return { partition, offset: 0, key: String(id), value }
}

const shown = async (id: number) => (id === a ? texts.changed : null)

async function found(records: readonly LogRecord[]): Promise<number> {
  return (await checkDocuments(history(), partitions, { collection: 'pets', records, shown })).length
}

it('the judge finds nothing where the last value of each document is what GET shows', async () => {
  expect(await found([told(a, texts.first), told(b, '{}'), told(a, texts.changed), told(b, null)])).toBe(0)
  const placed = JSON.stringify(order(c, a))
  const orders = { collection: 'orders', records: [told(c, placed)], shown: async () => placed } as const
  expect(await checkDocuments(history(), partitions, orders)).toEqual([])
})

/** Whose record key lies in another partition than its id. */
const dogs = {
  id:
    [1, 2, 3, 4, 5].find((id) => partitionOf(`categories/${id}`, partitions) !== partitionOf(`${id}`, partitions)) ?? 0,
  name: 'Dogs',
}

it.each<[string, key: string, partitionOf: string, count: number]>([
  ['under its record key', `categories/${dogs.id}`, `categories/${dogs.id}`, 0],
  ['in the partition of its id', `categories/${dogs.id}`, `${dogs.id}`, 1],
  ['under its id', `${dogs.id}`, `${dogs.id}`, 2],
])('a category is told %s', async (_, key, place, count) => {
  const built = new HistoryBuilder()
  built.categorized('Added', dogs)
  const value = JSON.stringify(dogs)
  const records = [{ partition: partitionOf(place, partitions), offset: 0, key, value }]
  const told = {
    collection: 'categories',
    records,
    shown: async (id: number) => (id === dogs.id ? value : null),
  } as const
  expect(await checkDocuments(built.history, partitions, told)).toHaveLength(count)
})

it.each<[string, readonly LogRecord[]]>([
  ['as it was before', [told(a, texts.changed), told(a, texts.first), told(b, null)]],
  ['in other bytes', [told(a, ` ${texts.changed}`), told(b, null)]],
  ['though it is removed', [told(a, texts.changed), told(b, '{}')]],
  ['as removed, though it is there', [told(a, null), told(b, null)]],
  ['not at all', [told(b, null)]],
  ['not at all, though it was removed', [told(a, texts.changed)]],
  ['in another partition too', [told(a, texts.first, 1), told(a, texts.changed), told(b, null)]],
  ['though it never was', [told(a, texts.changed), told(b, null), told(other, null, 1)]],
])('the judge finds a document that is told %s', async (_, records) => {
  expect(await found(records)).toBe(1)
})

it.each<[string, id: number, text: string | null]>([
  ['as it was before', a, texts.first],
  ['as removed, though it is there', a, null],
  ['though it is removed', b, JSON.stringify(pet(b))],
])('the judge finds a pet that GET and the topic show %s', async (_, id, text) => {
  const records = [told(a, texts.changed), told(b, null), told(id, text)]
  const both = async (each: number) => (each === id ? text : shown(each))
  expect(await checkDocuments(history(), partitions, { collection: 'pets', records, shown: both })).toHaveLength(1)
})
