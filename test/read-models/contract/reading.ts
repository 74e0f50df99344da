import fc from 'fast-check'
import { expect } from 'vitest'
import type { RangeQuery } from '../../../src/read-models/read-models.ts'
import { type ReadModelsFixture, topic } from './fixture.ts'
import { applyAll, batchAfter, documentOf, firstBatch, greatestId, insert, newGeneration, started } from './samples.ts'

const ids = [1, 2, 3, 9, 10, 11, 100, 2 ** 31, 2 ** 32 + 1, 10 ** 15 + 1, greatestId - 2, greatestId - 1, greatestId]
const isInIndex = (id: number) => id % 2 === 0

const queries: RangeQuery[] = [
  { from: 1, limit: 100 },
  { from: 1, limit: ids.length },
  { from: 1, limit: 1 },
  { from: 1, limit: 5 },
  { from: 2, limit: 3 },
  { from: 4, limit: 100 },
  { from: 1, to: 10, limit: 100 },
  { from: 2, to: 10, limit: 2 },
  { from: 10, to: 10, limit: 1 },
  { from: 12, to: 99, limit: 10 },
  { from: 10, to: 9, limit: 10 },
  { from: 10 ** 15, to: 10 ** 15, limit: 10 },
  { from: 10 ** 15 + 1, to: 10 ** 15 + 1, limit: 10 },
  { from: greatestId - 1, limit: 10 },
  { from: greatestId, limit: 10 },
  { from: greatestId, to: greatestId, limit: 1 },
  { from: greatestId - 2, to: greatestId - 1, limit: 10 },
  { from: greatestId + 1, limit: 10 }, // where the page after the greatest id would begin
  { index: 'even', from: 1, limit: 100 },
  { index: 'even', from: 3, to: 100, limit: 2 },
  { index: 'even', from: greatestId - 1, limit: 2 },
  { index: 'all', from: 3, limit: 2 },
  { index: 'another', from: 1, limit: 10 },
]

async function filled(fixture: ReadModelsFixture) {
  const { store, generation } = await started(fixture)
  const indexes = (id: number) => (isInIndex(id) ? ['all', 'even'] : ['all'])
  const inserts = ids.map((id) => insert(id, indexes(id))).reverse()
  await applyAll(
    store,
    generation,
    firstBatch({ inserts: inserts.slice(0, 5) }),
    firstBatch({ partition: 1, inserts: inserts.slice(5) }),
  )
  return { store, generation }
}

function expectedDocuments({ index, from, to = Infinity, limit }: RangeQuery): string[] {
  const isIn = (id: number) => index === undefined || index === 'all' || (index === 'even' && isInIndex(id))
  return ids
    .filter((id) => id >= from && id <= to && isIn(id))
    .slice(0, limit)
    .map((id) => documentOf(id))
}

export const reading = topic('reading', {
  'a range holds the documents from and to its ids in numeric order, up to its limit': async (fixture) => {
    const { store, generation } = await filled(fixture)
    for (const query of queries) {
      expect(await store.range(generation, query), JSON.stringify(query)).toEqual(expectedDocuments(query))
    }
  },

  'a proven range holds the same documents': async (fixture) => {
    const { store, generation } = await filled(fixture)
    for (const query of queries) {
      const { documents } = await store.provenRange(generation, query)
      expect(documents, JSON.stringify(query)).toEqual(expectedDocuments(query))
    }
  },

  'many ranges asked for at once each get their own answer': async (fixture) => {
    const { store, generation } = await filled(fixture)
    const asked = Array.from({ length: 20 }, () => queries).flat()
    const answers = await Promise.all(asked.map((query) => store.range(generation, query)))
    expect(answers).toEqual(asked.map(expectedDocuments))
  },

  'a document is given back as it is': async (fixture) => {
    const { store, generation } = await started(fixture)
    const texts = [
      '{"id":1,"name":"Größe 🐕‍🦺 \u2028 日本語","categoryId":-9223372036854775808}',
      '{"id":2,"categoryId":9223372036854775807,"n":1.0,"e":1E5,"dup":1,"dup":2}',
      ' { "id" : 3 ,\n\t"escaped":"\\u00e9\\ud83d\\ude00\\ud800\\u0000\\/" } ',
      `{"id":4,"long":"${'🐈'.repeat(5000)}"}`,
    ]
    const inserts = texts.map((document, i) => insert(i + 1, ['a'], document))
    await applyAll(store, generation, firstBatch({ inserts }))
    expect(await store.range(generation, { from: 1, limit: 10 })).toEqual(texts)
    expect(await store.range(generation, { index: 'a', from: 1, limit: 10 })).toEqual(texts)
    expect((await store.provenRange(generation, { from: 1, limit: 10 })).documents).toEqual(texts)
  },

  'a document of any text is given back as it is': async (fixture) => {
    const { store, generation } = await started(fixture)
    let batch = firstBatch()
    await applyAll(store, generation, batch)
    await fc.assert(
      fc.asyncProperty(fc.array(fc.string({ unit: 'binary' }), { minLength: 1, maxLength: 20 }), async (texts) => {
        const first = batch.checkpoint.next
        const inserts = texts.map((text, i) => insert(first + i, ['a'], documentOf(first + i, text)))
        batch = batchAfter(batch.checkpoint, { inserts })
        await applyAll(store, generation, batch)
        const documents = inserts.map(({ document }) => document)
        expect(await store.range(generation, { from: first, limit: 100 })).toEqual(documents)
        expect(await store.range(generation, { index: 'a', from: first, limit: 100 })).toEqual(documents)
      }),
      { numRuns: 50 },
    )
  },

  'a range of a generation that is not there is empty': async (fixture) => {
    const { store } = await filled(fixture)
    expect(await store.range(newGeneration().name, { from: 1, limit: 10 })).toEqual([])
  },

  'a proof tells the active generation, every checkpoint, and the size of what was asked': async (fixture) => {
    const { store, generation } = await started(fixture)
    const zero = firstBatch({ inserts: [insert(1, ['a']), insert(2)] })
    const one = firstBatch({ partition: 1, inserts: [insert(3, ['a', 'b'])], parked: ['subject'] })
    await applyAll(store, generation, zero, one)
    const checkpoints = new Map([
      [0, zero.checkpoint],
      [1, one.checkpoint],
    ])
    const proofOf = async (index?: string) =>
      (await store.provenRange(generation, { index, from: 3, to: 3, limit: 1 })).proof
    expect(await proofOf()).toEqual({ active: generation, checkpoints, held: 3, added: 3 })
    expect(await proofOf('a')).toEqual({ active: generation, checkpoints, held: 2, added: 2 })
    expect(await proofOf('b')).toEqual({ active: generation, checkpoints, held: 1, added: 1 })
    expect(await proofOf('another')).toEqual({ active: generation, checkpoints, held: 0, added: 0 })
  },

  'an index may have the name of anything': async (fixture) => {
    const { store, generation } = await started(fixture)
    const names = ['', '0', 'epoch', 'added', 'documents', 'status:sold', '__proto__', 'é 🐕']
    await applyAll(store, generation, firstBatch({ inserts: [insert(1), insert(2, names)] }))
    for (const index of names) {
      const { documents, proof } = await store.provenRange(generation, { index, from: 1, limit: 9 })
      expect([documents, proof.held, proof.added], index).toEqual([[documentOf(2)], 1, 1])
    }
    expect((await store.checkpoints(generation))?.size).toBe(1)
  },

  'a proof about a generation that is no longer active tells which one is': async (fixture) => {
    const { store, generation: old } = await started(fixture)
    const batch = firstBatch({ inserts: [insert(1)] })
    await applyAll(store, old, batch)
    const next = newGeneration()
    await store.start(next, old)
    expect(await store.provenRange(old, { from: 1, limit: 5 })).toEqual({
      documents: [documentOf(1)],
      proof: { active: next.name, checkpoints: new Map([[0, batch.checkpoint]]), held: 1, added: 1 },
    })
  },

  'a proof about a generation that is not there tells of nothing': async (fixture) => {
    const { store, generation } = await started(fixture)
    const nothing = { checkpoints: new Map(), held: 0, added: 0 }
    expect(await store.provenRange(newGeneration().name, { from: 1, limit: 5 })).toEqual({
      documents: [],
      proof: { active: generation, ...nothing },
    })
    await fixture.empty()
    expect(await store.provenRange(generation, { index: 'a', from: 1, limit: 5 })).toEqual({
      documents: [],
      proof: { active: undefined, ...nothing },
    })
  },
})
