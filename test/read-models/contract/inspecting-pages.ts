import { expect } from 'vitest'
import type { Entries } from '../../../src/read-models/inspection.ts'
import type { ReadModels } from '../../../src/read-models/read-models.ts'
import { topic } from './fixture.ts'
import {
  allDecisions,
  applyAll,
  batchAfter,
  decision,
  firstBatch,
  greatestId,
  insert,
  newGeneration,
  started,
} from './samples.ts'

/** All entries, read page by page. */
async function allEntries(store: ReadModels, generation: string, limit: number, index?: string) {
  const all: Entries['entries'][number][] = []
  for (let from = 1; ; ) {
    const page = await store.entries(generation, { index, from, limit })
    all.push(...(page?.entries ?? []))
    const last = page?.entries.at(-1)
    if (last === undefined || all.length > 10_000) return all
    expect(page?.entries.length).toBeLessThanOrEqual(limit)
    from = last.id + 1
  }
}

function manyKeys(from: number, count: number): string[] {
  return Array.from({ length: count }, (_, i) => `key ${from + i} "é🐕`)
}

export const inspectingPages = topic('inspecting page by page', {
  'entries are the first from an id on: documents as they are, in the whole collection with their tags': async (
    fixture,
  ) => {
    const { store, generation } = await started(fixture)
    const ids = [1, 2, 9, 10, 100, 2 ** 32, greatestId - 1, greatestId]
    const texts = ['é🐕\n\u0000', '","', '', ' ', '\u2028', 'x', 'y', 'z']
    const isIn = (id: number) => id % 2 === 0
    const document = (id: number, i: number) => ` { "id" : ${id},\n"n":1.0, "text":${JSON.stringify(texts[i])}}\n`
    const inserts = ids.map((id, i) => insert(id, isIn(id) ? ['a', 'b'] : ['b'], document(id, i)))
    await applyAll(store, generation, firstBatch({ inserts: inserts.toReversed() }))
    const inAll = inserts.map(({ id, document, tag }) => ({ id, text: document + tag }))
    const inA = inserts.filter(({ id }) => isIn(id)).map(({ id, document }) => ({ id, text: document }))
    const moment = { active: generation, checkpoints: await store.checkpoints(generation) }
    const queries = [1, 2, 3, 10, 2 ** 32 + 1, greatestId].flatMap((from) =>
      [1, 3, 100].map((limit) => ({ from, limit })),
    )
    for (const { from, limit } of queries) {
      const of = (all: typeof inAll) => ({ moment, entries: all.filter(({ id }) => id >= from).slice(0, limit) })
      expect(await store.entries(generation, { from, limit })).toEqual(of(inAll))
      expect(await store.entries(generation, { index: 'a', from, limit })).toEqual(of(inA))
    }
    expect(await store.entries(generation, { index: 'none', from: 1, limit: 5 })).toEqual({ moment, entries: [] })
    for (const limit of [1, 3, 8, 9]) {
      expect(await allEntries(store, generation, limit)).toEqual(inAll)
      expect(await allEntries(store, generation, limit, 'a')).toEqual(inA)
    }
  },

  'decisions read part by part are all decisions of the generation': async (fixture) => {
    const { store, generation } = await started(fixture)
    const { name: next } = await store.build(newGeneration())
    const keys = manyKeys(0, 700)
    await applyAll(store, generation, firstBatch({ keys }))
    await applyAll(store, next, firstBatch({ keys: ['of the next'] }))
    const expected = new Map(keys.map((key, i) => [key, decision(key, i)]))
    for (const limit of [1, 7, 100, 1000]) {
      const found = await allDecisions(store, generation, limit)
      expect(new Map(found?.map((each) => [each.key, each]))).toEqual(expected)
    }
    expect(await allDecisions(store, next)).toEqual([decision('of the next', 0)])
    const moment = { active: generation, checkpoints: await store.checkpoints(generation) }
    expect((await store.decisions(generation, '', 10))?.moment).toEqual(moment)
  },

  'a key that is decided before the first part is read comes, whatever is decided meanwhile': async (fixture) => {
    const { store, generation } = await started(fixture)
    let batch = firstBatch({ keys: manyKeys(0, 600) })
    await applyAll(store, generation, batch)
    const before = batch.decisions
    const found = new Map<string, unknown>()
    let next: string | undefined = ''
    for (let part = 1; next !== undefined && part < 1000; part++) {
      const page = await store.decisions(generation, next, 50)
      for (const each of page?.decisions ?? []) found.set(each.key, each)
      next = page?.next
      if (part > 30) continue // so that there is an end
      batch = batchAfter(batch.checkpoint, { keys: manyKeys(part * 1000, 100) })
      await applyAll(store, generation, batch)
    }
    expect(next).toBeUndefined()
    for (const each of before) expect(found.get(each.key)).toEqual(each)
  },
})
