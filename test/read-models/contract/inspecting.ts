import { expect } from 'vitest'
import { type InspectedPage, parkedCharactersMax, type Snapshot } from '../../../src/read-models/inspection.ts'
import type { ParkedEvent } from '../../../src/read-models/parked-event.ts'
import type { Batch } from '../../../src/read-models/projection-store.ts'
import type { ReadModelStore } from '../../../src/read-models/store.ts'
import { contentOf, expectGone } from './contents.ts'
import { topic } from './fixture.ts'
import { fullBatch, fullSets } from './full.ts'
import {
  added,
  allOf,
  allParked,
  applyAll,
  batchAfter,
  checkpointsAfter,
  firstBatch,
  newGeneration,
  parkedEvent,
  pet,
  rowOf,
  started,
} from './samples.ts'
import { greatestId, jsonOf, numbers, recordOf, rowText, strangeTexts } from './values.ts'

/** What goes with every answer. */
async function snapshotsOf({ inspection }: ReadModelStore, name: string): Promise<(Snapshot | undefined)[]> {
  const answers = await Promise.all([
    ...[inspection.contents(name), inspection.entries(name, 'pets', 1, 10), inspection.entries(name, 'none', 1, 10)],
    ...[inspection.rows(name, '', 10), inspection.keys(name, '', 10), inspection.parked(name, '', 10)],
    ...[inspection.parkedAt(name, { partition: 0, offset: 0 }), inspection.key(name, { partition: 0, key: 'k' })],
    inspection.row(name, 's'),
  ])
  return answers.map((answer) => answer?.snapshot)
}

export const inspecting = topic('inspecting', {
  'each answer tells what is active, and the checkpoints of the generation read': async (fixture) => {
    const { store, generation } = await started(fixture)
    const { name: next } = await store.generations.build(newGeneration())
    await applyAll(store, generation, fullBatch())
    await applyAll(store, next, fullBatch(), firstBatch({}, 1))
    const expectSnapshots = async (name: string, active: string, ...batches: Batch[]) => {
      const snapshots = await snapshotsOf(store, name)
      expect(snapshots).toEqual(snapshots.map(() => ({ active, checkpoints: checkpointsAfter(...batches) })))
    }
    await expectSnapshots(generation, generation, fullBatch())
    await expectSnapshots(next, generation, fullBatch(), firstBatch({}, 1))
    await store.generations.activate(next)
    await expectSnapshots(generation, next, fullBatch())
  },

  'what is stored is told as it is stored': async (fixture) => {
    const { store, generation } = await started(fixture)
    await applyAll(store, generation, fullBatch())
    const { inspection } = store
    const entries = [1, 2].map((id) => ({ id, text: `${jsonOf(id)}\u0000${1}\u0000${rowText(1)}` }))
    expect((await inspection.entries(generation, 'pets', 1, 10))?.entries).toEqual(entries)
    const ofOrder = (text: string) => [{ id: 5, text }]
    expect((await inspection.entries(generation, 'orders', 1, 10))?.entries).toEqual(ofOrder(`${jsonOf(5)}\u0000${1}`))
    expect((await inspection.entries(generation, 'orders:a', 1, 10))?.entries).toEqual(ofOrder(jsonOf(5)))
    expect((await inspection.rows(generation, '', 10))?.items).toEqual([['s', rowText(1)]])
    expect((await inspection.keys(generation, '', 10))?.items).toEqual([recordOf('k', 0)])
    expect((await inspection.parked(generation, '', 10))?.items).toEqual([parkedEvent(0, 0, 'parked')])
  },

  'in a new generation there is nothing, and of one that is not there nothing can be told': async (fixture) => {
    const { store, generation } = await started(fixture)
    const nothing = { checkpoints: new Map(), sizes: new Map(), entries: new Map(), rows: new Map(), keys: new Set() }
    expect(await contentOf(store, generation)).toEqual({ ...nothing, parked: [] })
    await expectGone(store, newGeneration().name)
  },

  'what was lost shows, to the last entry of a set': async (fixture) => {
    const { store, generation } = await started(fixture)
    await applyAll(store, generation, fullBatch())
    const before = (await store.inspection.contents(generation))?.sizes ?? new Map()
    for (const [set, entry] of fullSets) await fixture.damage(generation, set, entry)
    const lost = [...before].map(([set, { recorded }]) => [set, { actual: recorded - 1, recorded }] as const)
    expect((await contentOf(store, generation))?.sizes).toEqual(new Map(lost))
  },

  'entries are the first from an id on': async (fixture) => {
    const { store, generation } = await started(fixture)
    const all = [1, 2, 9, 10, 100, 2 ** 32, greatestId - 1, greatestId]
    const even = all.filter((id) => id % 2 === 0)
    const documents = added(...all.map((id) => pet(id, even.includes(id) ? ['a'] : [])).reverse())
    await applyAll(store, generation, firstBatch({ documents }))
    for (const from of [1, 2, 3, 10, 2 ** 32 + 1, greatestId]) {
      for (const limit of [1, 3, 100]) {
        for (const [set, ids] of Object.entries({ pets: all, 'pets:a': even })) {
          const entries = (await store.inspection.entries(generation, set, from, limit))?.entries
          expect(entries?.map(({ id }) => id)).toEqual(ids.filter((id) => id >= from).slice(0, limit))
        }
      }
    }
  },

  'rows, keys and parked events of any text are told page by page': async (fixture) => {
    const { store, generation } = await started(fixture)
    const { inspection } = store
    const names = [...strangeTexts, ...numbers(400).map((i) => `name ${i} "é🐕`)]
    const batch = firstBatch({ rows: names.map((name) => rowOf(name)), keys: names, parked: names })
    const ten = firstBatch({ parked: names.slice(0, 50).map((name) => `ten ${name}`) }, 10)
    await applyAll(store, generation, ten, batch)
    for (const limit of [7, 100, 1000]) {
      const rows = await allOf((from) => inspection.rows(generation, from, limit))
      expect(new Map(rows)).toEqual(new Map(names.map((name) => [name, rowText(1)])))
      const keys = await allOf((from) => inspection.keys(generation, from, limit))
      expect(new Set(keys.map((record) => JSON.stringify(record)))).toEqual(
        new Set(batch.keys.map((record) => JSON.stringify(record))),
      )
      expect(await allParked(store, generation, limit)).toEqual([...batch.parked, ...ten.parked])
    }
    expect((await inspection.parked(generation, '', 7))?.items).toHaveLength(7)
  },

  'a parked page ends where its values are large': async (fixture) => {
    const { store, generation } = await started(fixture)
    const sized = (offset: number, length: number) => ({ ...parkedEvent(0, offset, 's'), value: 'é'.repeat(length) })
    const parked = numbers(12, 0).map((offset) => sized(offset, parkedCharactersMax / 5))
    parked.push(sized(12, 1), sized(13, 2 * parkedCharactersMax), sized(14, 1))
    await applyAll(store, generation, { ...firstBatch(), parked })
    const found = await allOf(async (from) => {
      const page: InspectedPage<ParkedEvent> | undefined = await store.inspection.parked(generation, from, 1000)
      const lengths = page?.items.slice(0, -1).map(({ value }) => value.length) ?? []
      expect(lengths.reduce((sum, length) => sum + length, 0)).toBeLessThan(parkedCharactersMax)
      return page
    })
    expect(found.sort((a, b) => a.offset - b.offset)).toEqual(parked)
  },

  'a row or key that is there all the while comes at least once, whatever comes and goes meanwhile': async (
    fixture,
  ) => {
    const { store, generation } = await started(fixture)
    const names = numbers(600).map((i) => `name ${i}`)
    const goes = names.filter((_, i) => i % 3 === 0)
    let batch = firstBatch({ rows: names.map((name) => rowOf(name)), keys: names })
    await applyAll(store, generation, batch)
    const during = async <Item>(page: Promise<InspectedPage<Item> | undefined>) => {
      const found = await page
      const { next } = batch.checkpoint
      const more = next > 40 ? [] : numbers(100, next * 1000).map((i) => `name ${i}`) // so that there is an end
      batch = batchAfter(batch, { rows: more.map((name) => rowOf(name)), keys: more, rowsShown: goes.splice(0, 20) })
      await applyAll(store, generation, batch)
      return found
    }
    const keys = await allOf((from) => during(store.inspection.keys(generation, from, 50)))
    const rows = await allOf((from) => during(store.inspection.rows(generation, from, 50)))
    const missing = (found: readonly string[], expected: readonly string[]) =>
      expected.filter((name) => !found.includes(name))
    expect(
      missing(
        keys.map(({ key }) => key),
        names,
      ),
    ).toEqual([])
    expect(
      missing(
        rows.map(([stream]) => stream),
        names.filter((_, i) => i % 3 > 0),
      ),
    ).toEqual([])
  },

  'an event that is parked all the while comes once, whatever is parked or unparked meanwhile': async (fixture) => {
    const { store, generation } = await started(fixture)
    const streams = ['7', '', '/', 'a/1', '0/0', 'é🐕\u0000\n']
    let batch = firstBatch({ parked: numbers(300).map((i) => streams[i % streams.length] ?? '') })
    await applyAll(store, generation, batch)
    const stays = batch.parked.filter((_, i) => i % 3 === 0)
    let goes = batch.parked.filter((_, i) => i % 3 > 0)
    const found = await allOf(async (from) => {
      const page = await store.inspection.parked(generation, from, 20)
      // What was read last goes first: it may be where the next page begins.
      const isLast = ({ offset }: ParkedEvent) => offset === page?.items.at(-1)?.offset
      const unparked = goes.toSorted((a, b) => Number(isLast(b)) - Number(isLast(a))).slice(0, 10)
      goes = goes.filter((event) => !unparked.includes(event))
      const next = batchAfter(batch, { unparked, parked: goes.length > 0 ? ['a/1', '', '8'] : [] })
      batch = { ...next, parked: [...next.parked, ...stays.slice(0, 2)] }
      await applyAll(store, generation, batch)
      return page
    })
    const times = stays.map((event) => found.filter(({ offset }) => offset === event.offset).length)
    expect(times).toEqual(stays.map(() => 1))
  },
})
