import { setImmediate } from 'node:timers/promises'
import { expect } from 'vitest'
import type { Checkpoint } from '../../../src/read-models/checkpoint.ts'
import type { RangeAnswer, RangeQuery, ReadModels } from '../../../src/read-models/read-models.ts'
import { type ReadModelsFixture, topic } from './fixture.ts'
import {
  applyAll,
  checkpointsAfter,
  documentOf,
  type Found,
  firstBatch,
  found,
  greatestId,
  insert,
  newGeneration,
  nothing,
  nowhere,
  started,
} from './samples.ts'

const ids = [1, 2, 3, 9, 10, 11, 100, 2 ** 31, 2 ** 32 + 1, 10 ** 15 + 1, greatestId - 2, greatestId - 1, greatestId]
const isInIndex = (id: number) => id % 2 === 0

const queries: RangeQuery[] = [
  { from: 1, limit: 100 },
  { from: 1, limit: ids.length },
  { from: 1, limit: ids.length - 1 },
  { from: 1, limit: 100_000 },
  { from: 1, limit: 1 },
  { from: 1, limit: 5 },
  { from: 2, limit: 3 },
  { from: 4, limit: 100 },
  { from: 1, to: 10, limit: 100 },
  { from: 2, to: 10, limit: 2 },
  { from: 2, to: 10, limit: 3 },
  { from: 2, to: 10, limit: 4 }, // as many as there are: what comes behind them is not in the range
  { from: 10, to: 10, limit: 1 },
  { from: 12, to: 99, limit: 10 },
  { from: 10, to: 9, limit: 10 },
  { from: 10 ** 15, to: 10 ** 15, limit: 10 },
  { from: 10 ** 15 + 1, to: 10 ** 15 + 1, limit: 10 },
  { from: greatestId - 1, limit: 10 },
  { from: greatestId - 1, limit: 1 },
  { from: greatestId - 2, limit: 2 },
  { from: greatestId, limit: 10 },
  { from: greatestId, to: greatestId, limit: 1 },
  { from: greatestId - 2, to: greatestId - 1, limit: 10 },
  { from: greatestId + 1, limit: 10 }, // where the page after the greatest id would begin
  { index: 'even', from: 1, limit: 100 },
  { index: 'even', from: 3, to: 100, limit: 2 },
  { index: 'even', from: 2, limit: 3 },
  { index: 'even', from: greatestId - 1, limit: 2 },
  { index: 'even', from: greatestId - 1, limit: 1 },
  { index: 'all', from: greatestId - 1, limit: 1 },
  { index: 'all', from: 3, limit: 2 },
  { index: 'another', from: 1, limit: 10 },
]

/** All `ids`, with documents that hold `text`, in two partitions. */
async function fill(store: ReadModels, generation: string, text = ''): Promise<ReadonlyMap<number, Checkpoint>> {
  const indexes = (id: number) => (isInIndex(id) ? ['all', 'even'] : ['all'])
  const inserts = ids.map((id) => insert(id, indexes(id), documentOf(id, text))).reverse()
  const zero = firstBatch({ inserts: inserts.slice(0, 5) })
  const one = firstBatch({ partition: 1, inserts: inserts.slice(5) })
  await applyAll(store, generation, zero, one)
  return checkpointsAfter(zero, one)
}

async function filled(fixture: ReadModelsFixture) {
  const { store, generation } = await started(fixture)
  return { store, generation, checkpoints: await fill(store, generation) }
}

/** What is found where `fill` filled, and how large what was asked is. */
function expected(
  { index, from, to = Infinity, limit }: RangeQuery,
  text = '',
): Found & { held: number; added: number } {
  const isIn = (id: number) => index === undefined || index === 'all' || (index === 'even' && isInIndex(id))
  const all = ids.filter(isIn)
  const inRange = all.filter((id) => id >= from && id <= to)
  const shown = inRange.slice(0, limit)
  const documents = shown.map((id) => documentOf(id, text))
  const last = inRange.length > limit ? shown.at(-1) : undefined
  return { ...found(documents, last), held: all.length, added: all.length }
}

export const ranges = topic('ranges', {
  'a range holds the first documents from and to its ids in numeric order, and the last id where more follow': async (
    fixture,
  ) => {
    const { store, generation, checkpoints } = await filled(fixture)
    const moment = { active: generation, checkpoints }
    for (const query of queries) {
      const answer = await store.range(generation, query)
      expect(answer, JSON.stringify(query)).toEqual({ ...expected(query), moment })
    }
  },

  'each range after the last id of the one before goes on where that ended, to the end': async (fixture) => {
    const { store, generation } = await filled(fixture)
    for (const limit of [1, 2, 5, ids.length]) {
      const pages: string[] = []
      let from: number | undefined = 1
      while (from !== undefined && pages.length <= ids.length) {
        const { documents, last }: RangeAnswer = await store.range(generation, { from, limit })
        pages.push(documents)
        from = last === undefined ? undefined : last + 1
      }
      expect(pages).toHaveLength(Math.ceil(ids.length / limit))
      expect(pages.join(',')).toBe(ids.map((id) => documentOf(id)).join(','))
    }
  },

  'many ranges asked for at once each get their own answer': async (fixture) => {
    const { store, generation, checkpoints } = await filled(fixture)
    const moment = { active: generation, checkpoints }
    for (const count of [2, 16, 17, 64, 65, 500]) {
      const asked = Array.from({ length: count }, (_, i) => queries[(i * 7) % queries.length] as RangeQuery)
      const answers = await Promise.all(asked.map((query) => store.range(generation, query)))
      expect(answers).toEqual(asked.map((query) => ({ ...expected(query), moment })))
    }
  },

  'many ranges of several generations at once each get their own answer': async (fixture) => {
    const { store, generation: first } = await started(fixture)
    const [second, empty] = [newGeneration(), newGeneration()]
    const inFirst = await fill(store, first, 'first')
    await store.start(second, first)
    const inSecond = await fill(store, second.name, 'second')
    await store.start(empty, second.name)
    const missing = newGeneration().name
    const of = [
      { name: first, text: 'first', checkpoints: inFirst },
      { name: second.name, text: 'second', checkpoints: inSecond },
      { name: empty.name, text: undefined, checkpoints: nowhere },
      { name: missing, text: undefined, checkpoints: nowhere },
    ]
    const answers: Promise<RangeAnswer>[] = []
    const expectedAnswers: RangeAnswer[] = []
    for (const runLength of [1, 3, 20, 100]) {
      for (let i = 0; i < 200; i++) {
        const { name, text, checkpoints } = of[Math.floor(i / runLength) % of.length] as (typeof of)[number]
        const query = queries[(i * 7) % queries.length] as RangeQuery
        answers.push(store.range(name, query))
        const answer = text === undefined ? nothing : expected(query, text)
        expectedAnswers.push({ ...answer, moment: { active: empty.name, checkpoints } })
        if (i % 30 === 29) await setImmediate() // some are under way while others come
      }
    }
    expect(await Promise.all(answers)).toEqual(expectedAnswers)
  },
})
