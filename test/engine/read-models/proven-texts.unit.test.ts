import { expect, it } from 'vitest'
import { DamagedError } from '../../../src/engine/read-models/damaged.ts'
import type { ReadModel, TextPage } from '../../../src/engine/read-models/read-model.ts'
import { ShardedReadModel } from '../../../src/engine/read-models/shards.ts'
import { names } from './contract/samples.ts'
import { openProven, ScriptedStore, stopClock } from './scripted-store.ts'

const atLeast = (offset: number, partition = 0) => ({ positions: [{ partition, offset }], wait: { timeoutMs: 0 } })
const rebuilding = { code: 'read_model_rebuilding' }

/** A proved read model with texts in every set. */
async function openTexts(...ids: string[]) {
  const store = new ScriptedStore()
  store.texts = ids
  store.recordedTexts = ids.length
  const proven = openProven([0, 0], store)
  await proven.until('up')
  return { ...proven, walk: () => proven.model.texts('parked') }
}

async function idsOf(walk: AsyncIterable<TextPage>): Promise<string[]> {
  return (await Array.fromAsync(walk)).flatMap(({ items }) => items.map(([id]) => id))
}

it('a walk has the texts of a set, page by page, each with how far the read models were', async () => {
  const { store, walk } = await openTexts('a', 'b', 'c', 'd', 'e')
  const found: [string[], number | undefined][] = []
  for await (const { items, reached } of walk()) {
    found.push([items.map(([id]) => id), reached[0]?.get(0)?.next])
    store.next.set(0, found.length)
  }
  expect(found).toEqual([
    [['a', 'b'], undefined],
    [['c', 'd'], 1],
    [['e'], 2],
  ])
  const nothing = await openTexts()
  expect((await Array.fromAsync(nothing.walk())).map(({ items }) => items)).toEqual([[]])
})

it.each([1, 2])(
  'a walk is refused once the set has lost a text, and that is reported: after page %i',
  async (pages) => {
    const { store, walk, incomplete } = await openTexts('a', 'b', 'c', 'd', 'e')
    const walking = walk()
    for (let page = 0; page < pages; page++) await walking.next()
    store.texts = store.texts.filter((id) => id !== 'a')
    await expect(walking.next()).rejects.toMatchObject(rebuilding)
    expect(incomplete.report).toHaveBeenCalledWith('first', undefined)
  },
)

it('a walk is refused where another generation takes the place of its own, though that one has all', async () => {
  const { store, walk, model, tracker } = await openTexts('a', 'b', 'c', 'd', 'e')
  const walking = walk()
  await walking.next()
  store.takeOver('second')
  await tracker.look()
  await expect(walking.next()).rejects.toMatchObject(rebuilding)
  expect(await idsOf(model.texts('parked'))).toEqual(['a', 'b', 'c', 'd', 'e'])
})

it('a walk is refused where its generation is gone, or what is stored is damaged', async () => {
  stopClock()
  const { store, walk, incomplete } = await openTexts('a', 'b', 'c')
  const walking = walk()
  await walking.next()
  store.scan = () => Promise.reject(new DamagedError('the set of parked streams'))
  await expect(walking.next()).rejects.toMatchObject(rebuilding)
  expect(incomplete.report).toHaveBeenCalledWith('first', 'the set of parked streams')
  const other = await openTexts('a', 'b', 'c')
  const gone = other.walk()
  await gone.next()
  other.store.flush()
  await expect(gone.next()).rejects.toMatchObject(rebuilding)
})

it('each page of a walk has reached what was asked for', async () => {
  const { store, ends, model } = await openTexts('a', 'b', 'c')
  ends[0] = 2
  store.next.set(0, 1)
  expect(await idsOf(model.texts('parked', atLeast(0)))).toEqual(['a', 'b', 'c'])
  await expect(idsOf(model.texts('parked', atLeast(1)))).rejects.toMatchObject({ code: 'read_model_behind' })
})

/** A part that says what it is asked. */
function partOf(name: string) {
  const asked: unknown[] = []
  const part: Partial<ReadModel> = {
    async *texts(set, least) {
      asked.push(least?.positions)
      for (const page of [1, 2]) yield { items: [[`${name}${page}`, set]], reached: [] }
    },
    async loadAll(queries, least) {
      asked.push(least?.positions)
      return queries.map(({ stream }) => ({ reached: [], row: { stream: `${name} ${stream}` } }) as never)
    },
  }
  return { part: part as ReadModel, asked }
}

it('several shards are walked through one after the other, and loaded from in the order of what is asked', async () => {
  const parts = ['even', 'odd'].map(partOf)
  const model = new ShardedReadModel(
    parts.map(({ part }) => part),
    { partitionFor: Number },
    names,
  )
  const least = { ...atLeast(0), positions: [0, 1, 3].map((partition) => ({ partition, offset: 7 })) }
  expect(await idsOf(model.texts('rows', least))).toEqual(['even1', 'even2', 'odd1', 'odd2'])
  const queries = [
    { stream: '3' },
    { stream: '2' },
    { document: { collection: 'seats', id: 5 } },
    { stream: '4' },
    { stream: '1' },
  ]
  const rows = (await model.loadAll(queries, least)).map(({ row }) => row?.stream)
  expect(rows).toEqual(['odd 3', 'even 2', 'odd undefined', 'even 4', 'odd 1'])
  const own = [[{ partition: 0, offset: 7 }], [1, 3].map((partition) => ({ partition, offset: 7 }))]
  expect(parts.map(({ asked }) => asked)).toEqual(own.map((positions) => [positions, positions]))
})
