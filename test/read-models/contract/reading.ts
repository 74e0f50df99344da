import { setImmediate } from 'node:timers/promises'
import fc from 'fast-check'
import { expect } from 'vitest'
import type { Checkpoint } from '../../../src/read-models/checkpoint.ts'
import type { Batch, RangeAnswer, RangeQuery, ReadModels } from '../../../src/read-models/read-models.ts'
import { type ReadModelsFixture, topic } from './fixture.ts'
import {
  applyAll,
  batchAfter,
  documentOf,
  type Found,
  firstBatch,
  found,
  foundIn,
  greatestId,
  idsIn,
  insert,
  newGeneration,
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

function checkpointsAfter(...batches: Batch[]): ReadonlyMap<number, Checkpoint> {
  return new Map(batches.map(({ partition, checkpoint }) => [partition, checkpoint]))
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

const nothing = { ...found([]), held: 0, added: 0 }
const nowhere: ReadonlyMap<number, Checkpoint> = new Map()

export const reading = topic('reading', {
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

  'ranges asked for after something was applied hold it, whatever is under way': async (fixture) => {
    const { store, generation } = await started(fixture)
    const underWay: Promise<unknown>[] = []
    let batch = firstBatch()
    await applyAll(store, generation, batch)
    for (let id = 1; id <= 30; id++) {
      batch = batchAfter(batch.checkpoint, { inserts: [insert(id, ['a'])] })
      for (let i = 0; i < 20; i++) underWay.push(store.range(generation, { index: 'a', from: 1, limit: 100 }))
      await applyAll(store, generation, batch)
      const { count, added, moment } = await store.range(generation, { index: 'a', from: 1, limit: 100 })
      expect([count, added, moment.checkpoints]).toEqual([id, id, checkpointsAfter(batch)])
    }
    await Promise.all(underWay)
  },

  'an answer stays as it was when more is applied': async (fixture) => {
    const { store, generation } = await started(fixture)
    const first = firstBatch({ inserts: [insert(1)] })
    await applyAll(store, generation, first)
    const earlier = await store.range(generation, { from: 1, limit: 10 })
    await applyAll(store, generation, batchAfter(first.checkpoint, { inserts: [insert(2)] }))
    const next = newGeneration()
    await store.start(next, generation)
    await store.range(generation, { from: 1, limit: 10 })
    const moment = { active: generation, checkpoints: checkpointsAfter(first) }
    expect(earlier).toEqual({ ...found([documentOf(1)]), held: 1, added: 1, moment })
  },

  'documents are given back as they are, joined by commas': async (fixture) => {
    const { store, generation } = await started(fixture)
    const texts = [
      '{"id":1,"name":"Größe 🐕‍🦺 \u2028 日本語 e\u0301 \u007f\ufeff\u{10ffff}","categoryId":-9223372036854775808}',
      '{"id":2,"categoryId":9223372036854775807,"n":1.0,"e":1E5,"dup":1,"dup":2}',
      ' { "id" : 3 ,\n\t"escaped":"\\u00e9\\ud83d\\ude00\\ud800\\u0000\\/" } ',
      '\n{\n  "id": 4,\r\n  "list": [1,\n2]\n}\n\n',
      '{"id":5,"text":"},{\\"id\\":6,, %s %1 \\\\n"}',
      `{"id":6,"long":"${'🐈'.repeat(5000)}"}`,
    ]
    const inserts = texts.map((document, i) => insert(i + 1, ['a'], document))
    await applyAll(store, generation, firstBatch({ inserts }))
    for (const index of [undefined, 'a']) {
      expect(foundIn(await store.range(generation, { index, from: 1, limit: 10 }))).toEqual(found(texts))
      for (const [i, text] of texts.entries()) {
        const alone = await store.range(generation, { index, from: i + 1, limit: 1 })
        expect(foundIn(alone)).toEqual(found([text], i + 1 < texts.length ? i + 1 : undefined))
      }
    }
  },

  'documents of any text are given back as they are': async (fixture) => {
    const { store, generation } = await started(fixture)
    let batch = firstBatch()
    await applyAll(store, generation, batch)
    await fc.assert(
      fc.asyncProperty(fc.array(fc.string({ unit: 'binary' }), { minLength: 1, maxLength: 20 }), async (texts) => {
        const first = batch.checkpoint.next
        const inserts = texts.map((text, i) => insert(first + i, ['a'], `${documentOf(first + i, text)}\n`))
        batch = batchAfter(batch.checkpoint, { inserts })
        await applyAll(store, generation, batch)
        const documents = inserts.map(({ document }) => document)
        const query = { from: first, limit: 100 }
        expect(foundIn(await store.range(generation, query))).toEqual(found(documents))
        expect(foundIn(await store.range(generation, { ...query, index: 'a' }))).toEqual(found(documents))
      }),
      { numRuns: 50 },
    )
  },

  'each answer tells the active generation, every checkpoint, and the size of what was asked': async (fixture) => {
    const { store, generation } = await started(fixture)
    const zero = firstBatch({ inserts: [insert(1, ['a']), insert(2)] })
    const one = firstBatch({ partition: 10, inserts: [insert(3, ['a', 'b'])], parked: ['subject'] })
    await applyAll(store, generation, zero, one)
    const moment = { active: generation, checkpoints: checkpointsAfter(zero, one) }
    const answerOf = (index?: string) => store.range(generation, { index, from: 3, to: 3, limit: 1 })
    const three = found([documentOf(3)])
    expect(await answerOf()).toEqual({ ...three, moment, held: 3, added: 3 })
    expect(await answerOf('a')).toEqual({ ...three, moment, held: 2, added: 2 })
    expect(await answerOf('b')).toEqual({ ...three, moment, held: 1, added: 1 })
    expect(await answerOf('another')).toEqual({ ...nothing, moment })
  },

  'a generation to which nothing was applied has nothing, and no checkpoints': async (fixture) => {
    const { store, generation } = await started(fixture)
    for (const index of [undefined, 'a']) {
      const answer = await store.range(generation, { index, from: 1, limit: 10 })
      expect(answer).toEqual({ ...nothing, moment: { active: generation, checkpoints: nowhere } })
    }
  },

  'an index may have the name of anything': async (fixture) => {
    const { store, generation } = await started(fixture)
    const names = ['', '0', 'epoch', 'added', 'documents', 'status:sold', '__proto__', 'é 🐕']
    await applyAll(store, generation, firstBatch({ inserts: [insert(1), insert(2, names)] }))
    const asked = names.map((index) => store.range(generation, { index, from: 1, limit: 9 }))
    for (const [i, answer] of (await Promise.all(asked)).entries()) {
      expect({ ...foundIn(answer), held: answer.held, added: answer.added }, names[i]).toEqual({
        ...found([documentOf(2)]),
        held: 1,
        added: 1,
      })
    }
    expect((await store.checkpoints(generation))?.size).toBe(1)
  },

  'an answer about a generation that is no longer active tells which one is': async (fixture) => {
    const { store, generation: old } = await started(fixture)
    const batch = firstBatch({ inserts: [insert(1)] })
    await applyAll(store, old, batch)
    const next = newGeneration()
    await store.start(next, old)
    await applyAll(store, next.name, firstBatch({ partition: 1 }))
    expect(await store.range(old, { from: 1, limit: 5 })).toEqual({
      ...found([documentOf(1)]),
      moment: { active: next.name, checkpoints: checkpointsAfter(batch) },
      held: 1,
      added: 1,
    })
  },

  'a generation that is not there has no documents and no checkpoints': async (fixture) => {
    const { store, generation } = await filled(fixture)
    const all = { from: 1, limit: 10 }
    for (const index of [undefined, 'all']) {
      expect(await store.range(newGeneration().name, { ...all, index })).toEqual({
        ...nothing,
        moment: { active: generation, checkpoints: nowhere },
      })
    }
    expect(await idsIn(store, generation)).toEqual(ids)
    await fixture.empty()
    for (const index of [undefined, 'all']) {
      expect(await store.range(generation, { ...all, index })).toEqual({
        ...nothing,
        moment: { active: undefined, checkpoints: nowhere },
      })
    }
  },
})
