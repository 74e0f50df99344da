import { expect } from 'vitest'
import type { ReadModels } from '../../../src/read-models/read-models.ts'
import { topic } from './fixture.ts'
import {
  allParked,
  applyAll,
  batchAfter,
  contents,
  firstBatch,
  insert,
  newGeneration,
  parkedEvent,
  started,
} from './samples.ts'

async function subjectsIn(store: ReadModels, generation: string, partition = 0): Promise<ReadonlySet<string>> {
  return (await store.partitionStates(generation, [partition]))?.get(partition)?.parkedSubjects ?? new Set(['none'])
}

async function parkedIn(store: ReadModels, generation: string): Promise<[number, number, string][] | undefined> {
  const parked = await allParked(store, generation)
  return parked?.map(({ partition, offset, subject }) => [partition, offset, subject])
}

export const parking = topic('parking', {
  'what is parked under a subject is told in order of offset, with all that belongs to it': async (fixture) => {
    const { store, generation } = await started(fixture)
    const event = (offset: number) => ({
      offset,
      subject: '7',
      reason: `é🐕\u0000 "${offset}"`,
      value: '{"a":\n[]} / é🐕',
    })
    const first = { ...firstBatch(), parked: [event(100), parkedEvent(8, '70'), event(9)] }
    const second = { ...batchAfter(first.checkpoint), parked: [event(1000), event(10), parkedEvent(11, '')] }
    await applyAll(store, generation, first, second)
    expect(await store.parkedUnder(generation, 0, '7')).toEqual([9, 10, 100, 1000].map(event))
    expect(await store.parkedUnder(generation, 0, '')).toEqual([parkedEvent(11, '')])
    expect(await store.parkedUnder(generation, 0, '0')).toEqual([])
  },

  'what is parked under a subject is that of one partition and one generation': async (fixture) => {
    const { store, generation } = await started(fixture)
    const of = (partition: number, subject: string, reason: string) => ({
      ...firstBatch({ partition }),
      parked: [parkedEvent(5, subject, reason)],
    })
    await applyAll(store, generation, of(1, '2', 'one'), of(11, '2', 'eleven'), of(0, '1/2', 'zero'))
    const { name: next } = await store.build(newGeneration())
    await applyAll(store, next, of(1, '2', 'next'))
    const asked = [
      [generation, 1],
      [generation, 11],
      [generation, 0],
      [next, 1],
      [next, 11],
      ['none', 1],
    ] as const
    const reasons = []
    for (const [name, partition] of asked) {
      reasons.push((await store.parkedUnder(name, partition, '2')).map(({ reason }) => reason))
    }
    expect(reasons).toEqual([['one'], ['eleven'], [], ['next'], [], []])
  },

  'what is parked at an offset again takes the place of what was parked there': async (fixture) => {
    const { store, generation } = await started(fixture)
    const first = firstBatch({ parked: ['s', 's', 't'] })
    const other = firstBatch({ partition: 1, parked: ['s', 's'] })
    await applyAll(store, generation, first, other)
    const again = parkedEvent(1, 's', 'another reason')
    await applyAll(store, generation, { ...batchAfter(first.checkpoint), parked: [again] })
    expect(await store.parkedUnder(generation, 0, 's')).toEqual([parkedEvent(0, 's'), again])
    expect(await store.parkedUnder(generation, 1, 's')).toEqual([parkedEvent(0, 's'), parkedEvent(1, 's')])
    expect(await parkedIn(store, generation)).toHaveLength(5)
  },

  'what is unparked is parked no longer, and what else is parked stays': async (fixture) => {
    const { store, generation } = await started(fixture)
    const first = firstBatch({ parked: ['s', 's', 't', 's'] })
    const other = firstBatch({ partition: 1, parked: ['s', 's', 't', 's'] })
    const { name: next } = await store.build(newGeneration())
    for (const name of [generation, next]) await applyAll(store, name, first, other)
    await applyAll(store, generation, batchAfter(first.checkpoint, { unparked: [0, 3] }))
    const untouched = [
      [1, 0, 's'],
      [1, 1, 's'],
      [1, 2, 't'],
      [1, 3, 's'],
    ]
    expect(await parkedIn(store, generation)).toEqual([[0, 1, 's'], [0, 2, 't'], ...untouched])
    expect((await store.parkedUnder(generation, 0, 's')).map(({ offset }) => offset)).toEqual([1])
    expect(await subjectsIn(store, generation)).toEqual(new Set(['s', 't']))
    expect(await parkedIn(store, next)).toHaveLength(8)
  },

  'subjects that are freed are parked no longer in their partition, and others are': async (fixture) => {
    const { store, generation } = await started(fixture)
    const subjects = ['s', '1/s', 'é🐕\u0000', 't']
    const [zero, one] = [firstBatch({ parked: subjects }), firstBatch({ partition: 1, parked: subjects })]
    const { name: next } = await store.build(newGeneration())
    for (const name of [generation, next]) await applyAll(store, name, zero, one)
    const freed = ['s', 'é🐕\u0000']
    await applyAll(store, generation, batchAfter(one.checkpoint, { partition: 1, unparked: [0, 2], freed }))
    expect(await subjectsIn(store, generation, 1)).toEqual(new Set(['1/s', 't']))
    expect(await subjectsIn(store, generation, 0)).toEqual(new Set(subjects))
    expect(await subjectsIn(store, next, 1)).toEqual(new Set(subjects))
    expect(await store.parkedUnder(generation, 1, 's')).toEqual([])
    expect(await store.parkedUnder(generation, 1, '1/s')).toHaveLength(1)
  },

  'a subject that was freed may be parked again': async (fixture) => {
    const { store, generation } = await started(fixture)
    const first = firstBatch({ parked: ['s'] })
    const second = batchAfter(first.checkpoint, { unparked: [0], freed: ['s'] })
    const third = batchAfter(second.checkpoint, { parked: ['s'] })
    await applyAll(store, generation, first, second)
    expect(await subjectsIn(store, generation)).toEqual(new Set())
    await applyAll(store, generation, third)
    expect(await subjectsIn(store, generation)).toEqual(new Set(['s']))
    expect(await store.parkedUnder(generation, 0, 's')).toEqual(third.parked)
  },

  'what is applied at last is unparked in the same step, without moving on': async (fixture) => {
    const { store, generation } = await started(fixture)
    const first = firstBatch({ parked: ['s'] })
    await applyAll(store, generation, first)
    const checkpoint = { ...first.checkpoint, applied: 1, parked: 0 }
    const applied = { ...firstBatch({ inserts: [insert(1, ['a'])], unparked: [0], freed: ['s'], keys: ['k'] }) }
    await applyAll(store, generation, { ...applied, expected: first.checkpoint, checkpoint })
    expect(await store.checkpoints(generation)).toEqual(new Map([[0, checkpoint]]))
    expect(await store.contents(generation)).toMatchObject({ parked: 0, documents: { held: 1 }, decisions: 1 })
    expect(await subjectsIn(store, generation)).toEqual(new Set())
  },

  'a batch that is refused parks, unparks and frees nothing': async (fixture) => {
    const { store, generation } = await started(fixture)
    const first = firstBatch({ inserts: [insert(1)], parked: ['s', 't'], keys: ['k'] })
    await applyAll(store, generation, first)
    const before = await contents(store, generation)
    const content = { parked: ['u'], unparked: [1], freed: ['s'] }
    for (const [refused, outcome] of [
      [batchAfter(first.checkpoint, { ...content, inserts: [insert(1)] }), 'ids_taken'],
      [batchAfter(first.checkpoint, { ...content, keys: ['k'] }), 'keys_decided'],
      [firstBatch(content), 'checkpoint_mismatch'],
    ] as const) {
      expect((await store.apply(generation, refused)).outcome).toBe(outcome)
      expect(await contents(store, generation)).toEqual(before)
    }
  },

  'a thousand parked events are unparked, and their subjects freed, in one batch': async (fixture) => {
    const { store, generation } = await started(fixture)
    const subjects = Array.from({ length: 1001 }, (_, i) => `subject ${i}`)
    const first = firstBatch({ parked: subjects })
    await applyAll(store, generation, first)
    const unparked = first.parked.slice(1).map(({ offset }) => offset)
    await applyAll(store, generation, batchAfter(first.checkpoint, { unparked, freed: subjects.slice(1) }))
    expect(await parkedIn(store, generation)).toEqual([[0, 0, 'subject 0']])
    expect(await subjectsIn(store, generation)).toEqual(new Set(['subject 0']))
  },
})
