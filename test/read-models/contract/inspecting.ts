import { expect } from 'vitest'
import { type Checkpoint, startOfPartition } from '../../../src/read-models/checkpoint.ts'
import type { Contents, Entries } from '../../../src/read-models/inspection.ts'
import { topic } from './fixture.ts'
import { applyAll, batchAfter, expectGone, firstBatch, insert, newGeneration, parkedEvent, started } from './samples.ts'

const nothing: Omit<Contents, 'moment'> = {
  documents: { held: 0, added: 0 },
  indexes: new Map(),
  counters: new Map(),
  parked: 0,
  decisions: 0,
}

export const inspecting = topic('inspecting', {
  'of a generation that is not there there is nothing to see': async (fixture) => {
    const { store } = await started(fixture)
    await expectGone(store, newGeneration().name)
  },

  'a new generation, active or being built, has nothing in it': async (fixture) => {
    const { store, generation } = await started(fixture)
    const { name: next } = await store.build(newGeneration())
    const moment = { active: generation, checkpoints: new Map() }
    for (const name of [generation, next]) {
      expect(await store.contents(name)).toEqual({ ...nothing, moment })
      expect(await store.entries(name, { from: 1, limit: 5 })).toEqual({ moment, entries: [] })
      expect(await store.decisions(name, '', 5)).toEqual({ moment, decisions: [], next: undefined })
    }
  },

  'contents are how much there is': async (fixture) => {
    const { store, generation } = await started(fixture)
    const ten = { ...firstBatch({ partition: 10 }), parked: [parkedEvent(0, '/')] }
    const two = { ...firstBatch({ partition: 2 }), parked: [100, 9, 10].map((offset) => parkedEvent(offset, 'é🐕')) }
    const zero = firstBatch({ inserts: [insert(1, ['a', 'b é']), insert(2, ['a']), insert(3)], keys: ['k', 'l'] })
    await applyAll(store, generation, ten, two, zero)
    expect(await store.contents(generation)).toEqual({
      moment: { active: generation, checkpoints: await store.checkpoints(generation) },
      documents: { held: 3, added: 3 },
      indexes: new Map([
        ['a', { held: 2, added: 2 }],
        ['b é', { held: 1, added: 1 }],
      ]),
      counters: new Map(),
      parked: 4,
      decisions: 2,
    })
  },

  'counters go up by what a batch says, and add up over batches and partitions': async (fixture) => {
    const { store, generation } = await started(fixture)
    const names = ['day:2026-01-01', 'é🐕 "', '', '__proto__', '0', 'a/b c\u0000']
    const first = firstBatch({ inserts: [insert(1)], counters: names.map((name, i) => [name, i + 1]) })
    await applyAll(store, generation, first, firstBatch({ partition: 1, counters: names.map((name) => [name, 1000]) }))
    const last = [
      ['later', 1],
      ['0', 2 ** 40],
    ] as const
    await applyAll(store, generation, batchAfter(first.checkpoint, { counters: last }))
    const expected = new Map(names.map((name, i) => [name, i + 1001])).set('0', 1005 + 2 ** 40).set('later', 1)
    expect((await store.contents(generation))?.counters).toEqual(expected)
  },

  'counters are those of one generation, and go up with nothing that was refused': async (fixture) => {
    const { store, generation } = await started(fixture)
    const { name: next } = await store.build(newGeneration())
    const batch = firstBatch({ inserts: [insert(1)], counters: [['c', 1]] })
    await applyAll(store, generation, batch, firstBatch({ partition: 1, inserts: [insert(2)], counters: [['c', 1]] }))
    await applyAll(store, next, batch)
    await store.apply(next, batch)
    await store.apply(next, firstBatch({ partition: 1, inserts: [insert(1)], counters: [['c', 1]] }))
    const counters = await Promise.all([generation, next].map(async (name) => (await store.contents(name))?.counters))
    expect(counters).toEqual([new Map([['c', 2]]), new Map([['c', 1]])])
  },

  'a thousand documents with six thousand counters are one batch': async (fixture) => {
    const { store, generation } = await started(fixture)
    const inserts = Array.from({ length: 1000 }, (_, i) => insert(i + 1))
    const counters = Array.from({ length: 6000 }, (_, i) => [`of ${i}`, i + 1] as const)
    await applyAll(store, generation, firstBatch({ inserts, counters }))
    expect((await store.contents(generation))?.counters).toEqual(new Map(counters))
  },

  'what was lost shows, to the last entry of an index': async (fixture) => {
    const { store, generation } = await started(fixture)
    await applyAll(store, generation, firstBatch({ inserts: [insert(1, ['a', 'b']), insert(2, ['a'])] }))
    if (fixture.damage === undefined) return
    await fixture.damage(generation, 1, 'b')
    await fixture.damage(generation, 2, 'a')
    await fixture.damage(generation, 2)
    const [one, none] = [
      { held: 1, added: 2 },
      { held: 0, added: 1 },
    ]
    expect(await store.contents(generation)).toMatchObject({
      documents: one,
      indexes: new Map([
        ['a', one],
        ['b', none],
      ]),
    })
    expect((await store.entries(generation, { index: 'b', from: 1, limit: 10 }))?.entries).toEqual([])
  },

  'all of it is of one moment': async (fixture) => {
    const { store, generation } = await started(fixture)
    const reader = await fixture.open()
    let reading = true
    const [seen, pages]: [(Contents | undefined)[], (Entries | undefined)[]] = [[], []]
    const reads = (async () => {
      while (reading) {
        seen.push(await reader.contents(generation))
        for (const index of [undefined, 'a']) {
          pages.push(await reader.entries(generation, { index, from: 1, limit: 10_000 }))
        }
      }
    })()
    let expected: Checkpoint = startOfPartition
    for (let first = 1; first <= 1000; first += 50) {
      const ids = Array.from({ length: 50 }, (_, i) => first + i)
      const inserts = ids.map((id) => insert(id, ['a']))
      const content = {
        inserts,
        counters: [['c', 50]] as const,
        keys: ids.map((id) => `key ${id}`),
        parked: ['s', 't'],
      }
      const batch = batchAfter(expected, content)
      await applyAll(store, generation, batch)
      expected = batch.checkpoint
    }
    reading = false
    await reads
    expect(seen.length).toBeGreaterThan(0)
    for (const contents of seen) {
      const { applied, parked } = contents?.moment.checkpoints.get(0) ?? startOfPartition
      const size = { held: applied, added: applied }
      expect([contents?.documents, contents?.decisions, contents?.parked]).toEqual([size, applied, parked])
      expect(contents?.indexes).toEqual(new Map(applied > 0 ? [['a', size]] : []))
      expect(contents?.counters).toEqual(new Map(applied > 0 ? [['c', applied]] : []))
    }
    for (const page of pages) {
      expect(page?.entries).toHaveLength((page?.moment.checkpoints.get(0) ?? startOfPartition).applied)
    }
  },

  'what is told of a moment stays as it was': async (fixture) => {
    const { store, generation } = await started(fixture)
    const first = firstBatch({ inserts: [insert(1, ['a'])], counters: [['c', 1]], parked: ['s'], keys: ['k'] })
    await applyAll(store, generation, first)
    const read = () => Promise.all([store.contents(generation), store.entries(generation, { from: 1, limit: 5 })])
    const earlier = await read()
    const copy = structuredClone(earlier)
    const inserts = [insert(2, ['a'])]
    await applyAll(
      store,
      generation,
      batchAfter(first.checkpoint, { inserts, counters: [['c', 1]], unparked: [1], freed: ['s'], keys: ['l'] }),
    )
    expect(await read()).not.toEqual(copy)
    expect(earlier).toEqual(copy)
  },

  'what is found names what is active, whichever generation is asked for': async (fixture) => {
    const { store, generation } = await started(fixture)
    const { name: next } = await store.build(newGeneration())
    const [old, further] = [firstBatch({ keys: ['k'] }), firstBatch({ partition: 1, keys: ['l'] })]
    await applyAll(store, generation, old)
    await applyAll(store, next, old, further)
    const momentsOf = async (name: string) => [
      (await store.contents(name))?.moment,
      (await store.entries(name, { from: 1, limit: 1 }))?.moment,
      (await store.entries(name, { index: 'a', from: 1, limit: 1 }))?.moment,
      (await store.decisions(name, '', 1))?.moment,
    ]
    const own = { active: generation, checkpoints: new Map([[0, old.checkpoint]]) }
    const built = {
      ...own,
      checkpoints: new Map([
        [0, old.checkpoint],
        [1, further.checkpoint],
      ]),
    }
    expect(await momentsOf(generation)).toEqual([own, own, own, own])
    expect(await momentsOf(next)).toEqual([built, built, built, built])
    await store.activate(next)
    expect(new Set((await momentsOf(generation)).map((moment) => moment?.active))).toEqual(new Set([next]))
  },
})
