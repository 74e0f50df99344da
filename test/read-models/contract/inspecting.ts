import { expect } from 'vitest'
import { otherSets } from '../../../src/read-models/document.ts'
import { encodeIdempotencyRecord } from '../../../src/read-models/idempotency-record.ts'
import { scannedCharactersMax } from '../../../src/read-models/inspection.ts'
import { encodeParkedEvent, parkedId } from '../../../src/read-models/parked-event.ts'
import { topic } from './fixture.ts'
import { fullBatch } from './full.ts'
import {
  added,
  applyAll,
  batchAfter,
  firstBatch,
  itemsIn,
  newGeneration,
  parkedEvent,
  parkedItems,
  pet,
  rowOf,
  started,
} from './samples.ts'
import { greatestId, jsonOf, numbers, recordOf, rowText, strangeTexts } from './values.ts'

export const inspecting = topic('inspecting', {
  'what is stored is told as it is stored': async (fixture) => {
    const { store, generation } = await started(fixture)
    await applyAll(store, generation, fullBatch())
    const sets = {
      pets: [1, 2].map((id) => [String(id), `${jsonOf(id)}\u0000${1}\u0000${rowText(1)}`]),
      orders: [['5', `${jsonOf(5)}\u0000${1}`]],
      'orders:a': [['5', jsonOf(5)]],
      rows: [['s', rowText(1)]],
      keys: [['0/k', encodeIdempotencyRecord(recordOf('k', 0))]],
      parked: [['0/0', encodeParkedEvent(parkedEvent(0, 0, 'parked'))]],
      none: [],
    }
    for (const [set, items] of Object.entries(sets)) {
      expect(await store.inspection.scan(generation, set, undefined, 10)).toMatchObject({ items, next: undefined })
      const ids = ['11', ...items.map(([id]) => String(id)), '15']
      const texts = [undefined, ...items.map(([, text]) => text), undefined]
      expect((await store.inspection.find(generation, set, ids))?.texts).toEqual(texts)
      expect((await store.inspection.find(generation, set, []))?.texts).toEqual([])
    }
  },

  'documents come once, in order of id, page by page': async (fixture) => {
    const { store, generation } = await started(fixture)
    const all = [1, 2, 9, 10, 100, 2 ** 32, greatestId - 1, greatestId]
    const even = all.filter((id) => id % 2 === 0)
    const documents = added(...all.map((id) => pet(id, even.includes(id) ? ['a'] : [])).reverse())
    await applyAll(store, generation, firstBatch({ documents }))
    for (const limit of [1, 3, 8, 100]) {
      for (const [set, ids] of Object.entries({ pets: all, 'pets:a': even })) {
        const found: string[] = []
        await itemsIn(store, generation, set, limit, (items) => {
          expect(items).toHaveLength(Math.min(limit, ids.length - found.length))
          found.push(...items.map(([id]) => id))
        })
        expect(found).toEqual(ids.map(String))
      }
    }
  },

  'rows, keys and parked events of any text are told page by page, and found': async (fixture) => {
    const { store, generation } = await started(fixture)
    const names = [...strangeTexts, ...numbers(400).map((i) => `name ${i} "é🐕`)]
    const batch = firstBatch({ rows: names.map((name) => rowOf(name)), keys: names, parked: names })
    const ten = firstBatch({ parked: names.slice(0, 50).map((name) => `ten ${name}`) }, 10)
    await applyAll(store, generation, ten, batch)
    const sets = {
      rows: new Map(names.map((name) => [name, rowText(1)])),
      keys: new Map(batch.keys.map((record) => [`0/${record.key}`, encodeIdempotencyRecord(record)])),
      parked: parkedItems([...batch.parked, ...ten.parked]),
    }
    for (const [set, items] of Object.entries(sets)) {
      for (const limit of [7, 100, 1000]) expect(await itemsIn(store, generation, set, limit)).toEqual(items)
      const page = await store.inspection.scan(generation, set, undefined, 7)
      expect(page?.items.length).toBeLessThan(50)
      const found = await store.inspection.find(generation, set, [...items.keys()])
      expect(found?.texts).toEqual([...items.values()])
    }
  },

  'a page of parked events ends soon where they are large': async (fixture) => {
    const { store, generation } = await started(fixture)
    const value = 'x'.repeat(scannedCharactersMax / 5)
    const parked = numbers(40, 0).map((offset) => ({ ...parkedEvent(0, offset, 's'), value }))
    await applyAll(store, generation, { ...firstBatch(), parked })
    const found = await itemsIn(store, generation, 'parked', 1000, (items) => {
      expect(items.length).toBeLessThan(20)
    })
    expect(found).toEqual(parkedItems(parked))
  },

  'an entry that exists all the time is returned, whatever is added and removed meanwhile': async (fixture) => {
    const store = await fixture.open()
    const names = numbers(300).map((i) => `name ${i}`)
    for (const set of otherSets) {
      const { name: generation, logId } = newGeneration()
      await store.generations.start({ name: generation, logId }, (await store.generations.active())?.name)
      let batch = firstBatch({ rows: names.map((name) => rowOf(name)), keys: names, parked: names })
      await applyAll(store, generation, batch)
      const stays = batch.parked.filter((_, i) => i % 3 === 0)
      let goes = batch.parked.filter((_, i) => i % 3 > 0)
      const found = await itemsIn(store, generation, set, 25, async (items) => {
        // What was read last goes first: it may be where the next page begins.
        const last = items.at(-1)?.[0] ?? ''
        const isLast = (event: (typeof goes)[number]) => [event.stream, parkedId(event)].includes(last)
        const now = goes.toSorted((a, b) => Number(isLast(b)) - Number(isLast(a))).slice(0, 10)
        goes = goes.filter((event) => !now.includes(event))
        // So that there is an end; a key is decided once.
        const more = goes.map(({ stream }) => `more ${stream} ${batch.checkpoint.next}`).slice(0, 30)
        const rows = more.map((name) => rowOf(name))
        const rowsShown = now.map(({ stream }) => stream)
        batch = batchAfter(batch, { rows, rowsShown, keys: more, parked: more, unparked: now })
        await applyAll(store, generation, batch)
      })
      const ids = {
        rows: stays.map(({ stream }) => stream),
        keys: names.map((name) => `0/${name}`),
        parked: stays.map(parkedId),
      }
      expect([...found.keys()]).toEqual(expect.arrayContaining(ids[set]))
    }
  },
})
