import { expect } from 'vitest'
import { type Checkpoint, startOfPartition } from '../../../src/read-models/checkpoint.ts'
import { type ParkedEvents, type ParkedThere, parkedCharactersMax } from '../../../src/read-models/inspection.ts'
import type { ParkedEvent } from '../../../src/read-models/read-models.ts'
import { topic } from './fixture.ts'
import { allParked, applyAll, batchAfter, firstBatch, newGeneration, parkedEvent, started } from './samples.ts'

const subjects = ['7', '', '/', 'a/1', '0/0', 'é🐕\u0000\n']

function manyParked(from: number, count: number): ParkedEvent[] {
  return Array.from({ length: count }, (_, i) => ({
    ...parkedEvent(from + i, subjects[i % subjects.length] ?? '', `reason ${i} é🐕`),
    value: `{"a":\n[${i}]} / é🐕`,
  }))
}

export const inspectingParked = topic('inspecting what is parked', {
  'nothing is parked in a new generation': async (fixture) => {
    const { store, generation } = await started(fixture)
    const { name: next } = await store.build(newGeneration())
    const moment = { active: generation, checkpoints: new Map() }
    for (const name of [generation, next]) {
      expect(await store.parked(name, '', 5)).toEqual({ moment, events: [], next: undefined })
      expect(await store.parkedAt(name, { partition: 0, offset: 0 })).toEqual({ moment, event: undefined })
    }
  },

  'parked events read part by part are all of the generation, once, with all that belongs to them': async (fixture) => {
    const { store, generation } = await started(fixture)
    const { name: next } = await store.build(newGeneration())
    const batches = [0, 2, 10].map((partition) => ({
      ...firstBatch({ partition }),
      parked: manyParked(2 ** 40 + partition, 70),
    }))
    await applyAll(store, generation, ...batches)
    await applyAll(store, next, { ...firstBatch(), parked: [parkedEvent(3, 'of the next')] })
    const expected = batches.flatMap(({ partition, parked }) => parked.map((event) => ({ ...event, partition })))
    for (const limit of [1, 7, 210, 1000]) expect(await allParked(store, generation, limit)).toEqual(expected)
    expect(await allParked(store, next)).toEqual([{ ...parkedEvent(3, 'of the next'), partition: 0 }])
    const moment = { active: generation, checkpoints: await store.checkpoints(generation) }
    expect((await store.parked(generation, '', 10))?.moment).toEqual(moment)
  },

  'a part ends where its values are large': async (fixture) => {
    const { store, generation } = await started(fixture)
    const value = 'x'.repeat(parkedCharactersMax / 5)
    const parked = [...manyParked(0, 12).map((event) => ({ ...event, value })), parkedEvent(12, 'small')]
    const huge = { ...parkedEvent(13, 'huge'), value: 'y'.repeat(2 * parkedCharactersMax) }
    await applyAll(store, generation, { ...firstBatch(), parked: [...parked, huge] })
    for (let from: string | undefined = ''; from !== undefined; ) {
      const part: ParkedEvents | undefined = await store.parked(generation, from, 1000)
      const lengths = part?.events.slice(0, -1).map((event) => event.value.length) ?? []
      expect(lengths.reduce((sum, length) => sum + length, 0)).toBeLessThan(parkedCharactersMax)
      from = part?.next
    }
    expect(await allParked(store, generation)).toEqual([...parked, huge].map((event) => ({ ...event, partition: 0 })))
  },

  'what is parked before the first part is read and after the last comes once, whatever goes on': async (fixture) => {
    const { store, generation } = await started(fixture)
    let batch = { ...firstBatch(), parked: manyParked(1000, 300) }
    await applyAll(store, generation, batch)
    const stays = batch.parked.filter((_, i) => i % 3 === 0)
    const goes = batch.parked.filter((_, i) => i % 3 > 0).map(({ offset }) => offset)
    const found: number[] = []
    for (let from: string | undefined = ''; from !== undefined; ) {
      const part: ParkedEvents | undefined = await store.parked(generation, from, 20)
      const last = part?.events.at(-1)?.offset ?? -1
      found.push(...(part?.events.map(({ offset }) => offset) ?? []))
      from = part?.next
      // What was read last goes first: it may be where the next part begins.
      const gone = [...goes.splice(goes.includes(last) ? goes.indexOf(last) : 0, 1), ...goes.splice(0, 9)]
      const more = goes.length > 0 ? manyParked(batch.checkpoint.next * 100_000, 3) : []
      const again = stays.slice(0, 2)
      batch = { ...batchAfter(batch.checkpoint, { unparked: gone }), parked: [...more, ...again] }
      await applyAll(store, generation, batch)
    }
    const times = stays.map(({ offset }) => found.filter((each) => each === offset).length)
    expect(times).toEqual(stays.map(() => 1))
  },

  'what is parked at a place is told, or that nothing is': async (fixture) => {
    const { store, generation } = await started(fixture)
    const { name: next } = await store.build(newGeneration())
    const first = { ...firstBatch({ partition: 1 }), parked: manyParked(10, 3) }
    await applyAll(store, generation, first, { ...firstBatch({ partition: 11 }), parked: [parkedEvent(0, '1/1')] })
    const moment = { active: generation, checkpoints: await store.checkpoints(generation) }
    const [, event] = first.parked
    expect(await store.parkedAt(generation, { partition: 1, offset: 11 })).toEqual({
      moment,
      event: { ...event, partition: 1 },
    })
    for (const [partition, offset] of [[0, 11] as const, [1, 13] as const, [11, 11] as const, [1, 1] as const]) {
      expect(await store.parkedAt(generation, { partition, offset })).toEqual({ moment, event: undefined })
    }
    expect((await store.parkedAt(next, { partition: 1, offset: 11 }))?.event).toBeUndefined()
    await applyAll(store, generation, batchAfter(first.checkpoint, { partition: 1, unparked: [11] }))
    expect((await store.parkedAt(generation, { partition: 1, offset: 11 }))?.event).toBeUndefined()
  },

  'each part, and what is at a place, is of one moment': async (fixture) => {
    const { store, generation } = await started(fixture)
    const reader = await fixture.open()
    let reading = true
    const [parts, places]: [(ParkedEvents | undefined)[], (ParkedThere | undefined)[]] = [[], []]
    const reads = (async () => {
      while (reading) {
        parts.push(await reader.parked(generation, '', 10))
        places.push(await reader.parkedAt(generation, { partition: 0, offset: 1 }))
      }
    })()
    // Parked at 1 is something after each odd number of batches, and at 2 after each even one.
    let expected: Checkpoint = startOfPartition
    for (let count = 1; count <= 60; count++) {
      const [at, before] = count % 2 === 1 ? [1, 2] : [2, 1]
      const batch = { ...batchAfter(expected, { unparked: [before] }), parked: [parkedEvent(at, 's')] }
      await applyAll(store, generation, batch)
      expected = batch.checkpoint
    }
    reading = false
    await reads
    expect(parts.length).toBeGreaterThan(0)
    for (const part of parts) {
      const { skipped } = part?.moment.checkpoints.get(0) ?? startOfPartition
      const offsets = skipped === 0 ? [] : [skipped % 2 === 1 ? 1 : 2]
      expect(part?.events.map(({ offset }) => offset)).toEqual(offsets)
    }
    for (const place of places) {
      const { skipped } = place?.moment.checkpoints.get(0) ?? startOfPartition
      expect(place?.event?.offset).toBe(skipped % 2 === 1 ? 1 : undefined)
    }
  },

  'what is parked is told with what is active, whichever generation is asked for': async (fixture) => {
    const { store, generation } = await started(fixture)
    const { name: next } = await store.build(newGeneration())
    const batch = firstBatch({ parked: ['s'] })
    await applyAll(store, generation, batch)
    await applyAll(store, next, batch)
    await store.activate(next)
    const moment = { active: next, checkpoints: new Map([[0, batch.checkpoint]]) }
    expect((await store.parked(generation, '', 1))?.moment).toEqual(moment)
    expect((await store.parkedAt(generation, { partition: 0, offset: 0 }))?.moment).toEqual(moment)
  },
})
