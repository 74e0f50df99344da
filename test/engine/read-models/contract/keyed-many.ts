import { expect } from 'vitest'
import { documentsIn, type IndexKey, type StoredDocument } from '../../../../src/engine/read-models/document.ts'
import type { Batch } from '../../../../src/engine/read-models/ports/projection.ts'
import type { ReadModelStore } from '../../../../src/engine/read-models/ports/store.ts'
import { topic } from './fixture.ts'
import { added, applyAll, at, batchAfter, firstBatch, home, seat, started } from './samples.ts'

const many = 100_000
const atOnce = 10_000

/** The first half has one value and three that stand beside it in turn, each of the second has one of its own. */
function seatOf(id: number): StoredDocument {
  return seat(id, [id <= many ? at('common', ['x', 'y', ''][id % 3]) : at(`own ${id}`)])
}

async function fill(store: ReadModelStore, generation: string): Promise<void> {
  let before: Batch | undefined
  for (let from = 1; from <= 2 * many; from += atOnce) {
    const documents = added(...Array.from({ length: atOnce }, (_, i) => seatOf(from + i)))
    const batch: Batch = before === undefined ? firstBatch({ documents }) : batchAfter(before, { documents })
    await applyAll(store, generation, batch)
    before = batch
  }
}

export const keyedMany = topic('keyed sets of many documents', {
  'one value of 100,000 documents, and 100,000 of one, are found and counted alike': async (fixture) => {
    const { store, generation } = await started(fixture)
    await fill(store, generation)
    const pageAfter = async (after: number, ...indexKeys: IndexKey[]) => {
      const { documents, last } = await store.reads.page(generation, { collection: home, indexKeys, after, limit: 3 })
      return { ids: documentsIn(documents).map(({ id }) => id), last }
    }
    const common = [at('common', 'x'), at('common', 'y'), at('common')]
    expect(await pageAfter(0, ...common)).toEqual({ ids: [1, 2, 3], last: 3 })
    expect(await pageAfter(50_000, ...common)).toEqual({ ids: [50_001, 50_002, 50_003], last: 50_003 })
    expect(await pageAfter(many - 2, ...common)).toEqual({ ids: [many - 1, many], last: undefined })
    expect(await pageAfter(50_000, at('common', 'x'))).toEqual({ ids: [50_001, 50_004, 50_007], last: 50_007 })
    for (const id of [many + 1, many + 50_000, 2 * many])
      expect(await pageAfter(0, at(`own ${id}`))).toEqual({ ids: [id], last: undefined })
    expect(await pageAfter(0, at(`own ${2 * many + 1}`))).toEqual({ ids: [], last: undefined })
    const counted = await store.reads.count(generation, { collection: home, indexKeys: [...common, at('own 150000')] })
    expect(counted.counts).toEqual([33_333, 33_334, 33_333, 1])
  },
})
