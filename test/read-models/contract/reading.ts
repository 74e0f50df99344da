import fc from 'fast-check'
import { expect } from 'vitest'
import { topic } from './fixture.ts'
import {
  applyAll,
  batchAfter,
  checkpointsAfter,
  documentOf,
  firstBatch,
  found,
  foundIn,
  idsIn,
  insert,
  newGeneration,
  nothing,
  nowhere,
  started,
} from './samples.ts'

export const reading = topic('reading', {
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
    const { store, generation } = await started(fixture)
    await applyAll(store, generation, firstBatch({ inserts: [insert(1, ['a'])] }))
    const all = { from: 1, limit: 10 }
    for (const index of [undefined, 'a']) {
      expect(await store.range(newGeneration().name, { ...all, index })).toEqual({
        ...nothing,
        moment: { active: generation, checkpoints: nowhere },
      })
    }
    expect(await idsIn(store, generation)).toEqual([1])
    await fixture.empty()
    for (const index of [undefined, 'a']) {
      expect(await store.range(generation, { ...all, index })).toEqual({
        ...nothing,
        moment: { active: undefined, checkpoints: nowhere },
      })
    }
  },
})
