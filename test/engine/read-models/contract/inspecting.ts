import { expect } from 'vitest'
import { textSets } from '../../../../src/engine/read-models/document.ts'
import { scannedCharactersMax } from '../../../../src/engine/read-models/ports/inspection.ts'
import type { Batch } from '../../../../src/engine/read-models/ports/projection.ts'
import { encodeIdempotencyRecord } from '../../../../src/engine/read-models/stored-texts.ts'
import { topic } from './fixture.ts'
import { fullBatch, keyedBooking, keyedEntry } from './full.ts'
import {
  added,
  applyAll,
  batchAfter,
  firstBatch,
  itemsIn,
  newGeneration,
  parkedItem,
  parkedStream,
  seat,
  started,
  textChanges,
} from './samples.ts'
import { greatestId, historyOf, jsonOf, numbers, recordOf, rowText, strangeTexts } from './values.ts'

export const inspecting = topic('inspecting', {
  'what is stored is told as it is stored': async (fixture) => {
    const { store, generation } = await started(fixture)
    await applyAll(store, generation, fullBatch())
    const sets = {
      seats: [1, 2].map((id) => [String(id), `${jsonOf(id)}\u0000${rowText(1)}`]),
      bookings: [
        ['5', `${jsonOf(5)}\u00001`],
        ['8', `${jsonOf(8)}\u00008`],
      ],
      'bookings:a': [['5', jsonOf(5)]],
      'bookings:n=': [[keyedEntry, keyedBooking.json]],
      rows: [['s', rowText(129)]],
      keys: [['0/k', encodeIdempotencyRecord(recordOf('k', 0))]],
      history: [historyOf('s', 0)],
      parked: [parkedItem(parkedStream('parked', 0))],
      waiting: [['0/parked', '1,2']],
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
    const documents = added(...all.map((id) => seat(id, even.includes(id) ? ['a'] : [])).reverse())
    await applyAll(store, generation, firstBatch({ documents }))
    for (const limit of [1, 3, 8, 100]) {
      for (const [set, ids] of Object.entries({ seats: all, 'seats:a': even })) {
        const found: string[] = []
        await itemsIn(store, generation, set, limit, (items) => {
          expect(items).toHaveLength(Math.min(limit, ids.length - found.length))
          found.push(...items.map(([id]) => id))
        })
        expect(found).toEqual(ids.map(String))
      }
    }
  },

  'texts of any kind, under any name, are told page by page, and found': async (fixture) => {
    const { store, generation } = await started(fixture)
    const names = [...strangeTexts, ...numbers(400).map((i) => `name ${i} "é🐕`)]
    const texts = names.map((name, i) => [name, names.at(-i) ?? ''] as const)
    for (const set of textSets) {
      const batch = firstBatch({}, textSets.indexOf(set))
      await applyAll(store, generation, { ...batch, texts: textChanges({ [set]: { put: texts } }) })
    }
    for (const set of textSets) {
      for (const limit of [7, 100, 1000]) expect(await itemsIn(store, generation, set, limit)).toEqual(new Map(texts))
      const page = await store.inspection.scan(generation, set, undefined, 7)
      expect(page?.items.length).toBeLessThan(50)
      const found = await store.inspection.find(generation, set, names)
      expect(found?.texts).toEqual(texts.map(([, text]) => text))
    }
  },

  'a page of texts ends soon where they are large': async (fixture) => {
    const { store, generation } = await started(fixture)
    const text = 'x'.repeat(scannedCharactersMax / 5)
    const put = numbers(40).map((id) => [`${id}`, text] as const)
    await applyAll(store, generation, { ...firstBatch(), texts: textChanges({ waiting: { put } }) })
    const found = await itemsIn(store, generation, 'waiting', 1000, (items) => {
      expect(items.length).toBeLessThan(20)
    })
    expect(found).toEqual(new Map(put))
  },

  'an entry that exists all the time is returned, whatever is added and removed meanwhile': async (fixture) => {
    const store = await fixture.open()
    const names = numbers(300).map((i) => `name ${i}`)
    for (const set of textSets) {
      const { name: generation, logId } = newGeneration()
      await store.generations.start({ name: generation, logId }, (await store.generations.active())?.name)
      const change = (before: Batch, put: readonly string[], removed: readonly string[]) => {
        const texts = textChanges({ [set]: { put: put.map((id) => [id, 'a text'] as const), removed } })
        return { ...batchAfter(before), texts }
      }
      const none = firstBatch()
      let batch = change(none, names, [])
      await applyAll(store, generation, none, batch)
      const stays = names.filter((_, i) => i % 3 === 0)
      let goes = names.filter((_, i) => i % 3 > 0)
      const found = await itemsIn(store, generation, set, 25, async (items) => {
        // What was read last goes first: it may be where the next page begins.
        const last = items.at(-1)?.[0] ?? ''
        const now = goes.toSorted((a, b) => Number(b === last) - Number(a === last)).slice(0, 10)
        goes = goes.filter((name) => !now.includes(name))
        const more = goes.map((name) => `more ${name} ${batch.checkpoint.next}`).slice(0, 30) // so that there is an end
        batch = change(batch, more, now)
        await applyAll(store, generation, batch)
      })
      expect([...found.keys()]).toEqual(expect.arrayContaining(stays))
    }
  },
})
