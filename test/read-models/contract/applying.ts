import { expect } from 'vitest'
import { type Checkpoint, startOfPartition } from '../../../src/read-models/checkpoint.ts'
import type { Batch, RangeAnswer, ReadModels } from '../../../src/read-models/read-models.ts'
import { type ReadModelsFixture, topic } from './fixture.ts'
import { applyAll, batchAfter, contents, firstBatch, idsIn, idsOf, insert, newGeneration, started } from './samples.ts'

async function expectNothingChanged(store: ReadModels, generation: string, work: () => Promise<void>): Promise<void> {
  const before = await contents(store, generation)
  await work()
  expect(await contents(store, generation)).toEqual(before)
}

/** A batch at 5 in partition 0 was applied; a good one follows it, expecting what `change` makes of that checkpoint. */
async function expectMismatch(fixture: ReadModelsFixture, change: (stored: Checkpoint) => Checkpoint): Promise<void> {
  const { store, generation } = await started(fixture)
  const first = firstBatch({ inserts: [1, 2, 3, 4].map((id) => insert(id, ['a'])) })
  await applyAll(store, generation, first)
  const batch = batchAfter(first.checkpoint, { inserts: [insert(5, ['a'])], parked: ['subject'] })
  await expectNothingChanged(store, generation, async () => {
    const refused = { ...batch, expected: change(first.checkpoint) }
    expect(await store.apply(generation, refused)).toEqual({ outcome: 'checkpoint_mismatch' })
  })
  await applyAll(store, generation, batch)
}

export const applying = topic('applying', {
  'adds documents to the collection and to their indexes, and moves the checkpoint': async (fixture) => {
    const { store, generation } = await started(fixture)
    const batch = firstBatch({ inserts: [insert(3, ['a', 'b']), insert(1, ['b']), insert(2)] })
    await applyAll(store, generation, batch)
    expect(await idsIn(store, generation)).toEqual([1, 2, 3])
    expect(await idsIn(store, generation, 'a')).toEqual([3])
    expect(await idsIn(store, generation, 'b')).toEqual([1, 3])
    expect(await store.checkpoints(generation)).toEqual(new Map([[0, batch.checkpoint]]))
  },

  'moves the checkpoint over records that add nothing': async (fixture) => {
    const { store, generation } = await started(fixture)
    const first = firstBatch()
    const second = batchAfter(first.checkpoint)
    await applyAll(store, generation, first, second)
    expect(await store.checkpoints(generation)).toEqual(new Map([[0, second.checkpoint]]))
    expect(await idsIn(store, generation)).toEqual([])
  },

  'moves one partition alone': async (fixture) => {
    const { store, generation } = await started(fixture)
    const zero = firstBatch({ inserts: [insert(1)] })
    const one = firstBatch({ partition: 1, inserts: [insert(2)] })
    const further = batchAfter(zero.checkpoint, { inserts: [insert(3)] })
    await applyAll(store, generation, zero, one, further)
    expect(await store.checkpoints(generation)).toEqual(
      new Map([
        [0, further.checkpoint],
        [1, one.checkpoint],
      ]),
    )
  },

  'a batch that comes again is a mismatch': async (fixture) => {
    const { store, generation } = await started(fixture)
    const batch = firstBatch({ inserts: [insert(1, ['a'])], parked: ['subject'] })
    await applyAll(store, generation, batch)
    await expectNothingChanged(store, generation, async () => {
      expect(await store.apply(generation, batch)).toEqual({ outcome: 'checkpoint_mismatch' })
    })
  },

  'an expected position that is not the stored one is a mismatch': (fixture) =>
    expectMismatch(fixture, (stored) => ({ ...stored, next: stored.next - 1 })),

  'an expected start is a mismatch once something is stored': (fixture) =>
    expectMismatch(fixture, () => startOfPartition),

  'expected counts that are not the stored ones are a mismatch, one by one': async (fixture) => {
    const { store, generation } = await started(fixture)
    const stored: Checkpoint = { next: 9, last: null, applied: 1, dropped: 2, parked: 3, skipped: 3 }
    await applyAll(store, generation, { ...firstBatch(), checkpoint: stored })
    for (const count of ['applied', 'dropped', 'parked', 'skipped'] as const) {
      const batch = batchAfter({ ...stored, [count]: stored[count] + 1 })
      expect(await store.apply(generation, batch), count).toEqual({ outcome: 'checkpoint_mismatch' })
    }
    expect(await store.checkpoints(generation)).toEqual(new Map([[0, stored]]))
  },

  'another last record is a mismatch': (fixture) =>
    expectMismatch(fixture, (stored) => ({ ...stored, last: { offset: stored.next - 1, identity: 'another' } })),

  'no last record is a mismatch where there is one': (fixture) =>
    expectMismatch(fixture, (stored) => ({ ...stored, last: null })),

  'any expected position but the start is a mismatch where nothing is stored': async (fixture) => {
    const { store, generation } = await started(fixture)
    const ahead = batchAfter(firstBatch().checkpoint, { inserts: [insert(1)] })
    await expectNothingChanged(store, generation, async () => {
      expect(await store.apply(generation, ahead)).toEqual({ outcome: 'checkpoint_mismatch' })
    })
  },

  'a generation never started is gone, and does not come into being': async (fixture) => {
    const { store } = await started(fixture)
    const missing = newGeneration().name
    expect(await store.apply(missing, firstBatch({ inserts: [insert(1)] }))).toEqual({ outcome: 'generation_gone' })
    expect(await store.checkpoints(missing)).toBeUndefined()
    expect(await idsIn(store, missing)).toEqual([])
  },

  'the generation of an emptied store is gone': async (fixture) => {
    const { store, generation } = await started(fixture)
    const first = firstBatch({ inserts: [insert(1)] })
    await applyAll(store, generation, first)
    await fixture.empty()
    for (const batch of [batchAfter(first.checkpoint), firstBatch({ inserts: [insert(2)] })]) {
      expect(await store.apply(generation, batch)).toEqual({ outcome: 'generation_gone' })
    }
    expect(await idsIn(store, generation)).toEqual([])
  },

  'ids with a document are told with their tags, and nothing is written': async (fixture) => {
    const { store, generation } = await started(fixture)
    const held = [insert(2, ['a']), insert(7, ['b']), insert(Number.MAX_SAFE_INTEGER)]
    await applyAll(store, generation, firstBatch({ inserts: held }))
    const inserts = [1, 2, 3, 7, Number.MAX_SAFE_INTEGER].map((id) => ({
      ...insert(id, ['a', 'b'], `{"id":${id},"of":"another event"}`),
      tag: 'another-tag!',
    }))
    await expectNothingChanged(store, generation, async () => {
      expect(await store.apply(generation, firstBatch({ partition: 1, inserts, parked: ['subject'] }))).toEqual({
        outcome: 'ids_taken',
        tags: new Map(held.map(({ id, tag }) => [id, tag])),
      })
    })
    const free = inserts.filter(({ id }) => held.every((taken) => taken.id !== id))
    await applyAll(store, generation, firstBatch({ partition: 1, inserts: free }))
  },

  'an id is taken for the very same document too': async (fixture) => {
    const { store, generation } = await started(fixture)
    const first = firstBatch({ inserts: [insert(1, ['a'])] })
    await applyAll(store, generation, first)
    const again = batchAfter(first.checkpoint, { inserts: [insert(1, ['a'])] })
    await expectNothingChanged(store, generation, async () => {
      expect(await store.apply(generation, again)).toEqual({
        outcome: 'ids_taken',
        tags: new Map([[1, insert(1).tag]]),
      })
    })
  },

  'a key is decided once: the second batch is told, and changes nothing': async (fixture) => {
    const { store, generation } = await started(fixture)
    expect(await store.decision(generation, 'k')).toBeUndefined()
    const first = firstBatch({ inserts: [insert(1)], keys: ['k', 'l"é🐕 '] })
    await applyAll(store, generation, first)
    for (const decided of first.decisions) {
      expect(await store.decision(generation, decided.key)).toEqual(decided)
    }
    const second = firstBatch({ partition: 1, inserts: [insert(2)], keys: ['m', 'k', 'l"é🐕 '] })
    await expectNothingChanged(store, generation, async () => {
      expect(await store.apply(generation, second)).toEqual({ outcome: 'keys_decided', keys: ['k', 'l"é🐕 '] })
    })
    await applyAll(store, generation, firstBatch({ partition: 1, inserts: [insert(2)], keys: ['m'] }))
    expect(await store.decision(generation, 'm')).toMatchObject({ key: 'm', offset: 0 })
  },

  'decided keys are told before taken ids': async (fixture) => {
    const { store, generation } = await started(fixture)
    const first = firstBatch({ inserts: [insert(1)], keys: ['k'] })
    await applyAll(store, generation, first)
    const again = batchAfter(first.checkpoint, { inserts: [insert(1)], keys: ['k'] })
    expect(await store.apply(generation, again)).toEqual({ outcome: 'keys_decided', keys: ['k'] })
  },

  'each generation decides for itself': async (fixture) => {
    const { store, generation } = await started(fixture)
    await applyAll(store, generation, firstBatch({ keys: ['k'] }))
    const next = newGeneration()
    await store.start(next, generation)
    expect(await store.decision(next.name, 'k')).toBeUndefined()
    await applyAll(store, next.name, firstBatch({ keys: ['k'] }))
    expect(await store.decision(newGeneration().name, 'k')).toBeUndefined()
  },

  'a neighbouring id is not taken': async (fixture) => {
    const { store, generation } = await started(fixture)
    const middle = firstBatch({ inserts: [insert(2 ** 53 - 2)] })
    await applyAll(store, generation, middle)
    const around = [2 ** 53 - 3, 2 ** 53 - 1].map((id) => insert(id))
    await applyAll(store, generation, batchAfter(middle.checkpoint, { inserts: around }))
    expect(await idsIn(store, generation)).toEqual([2 ** 53 - 3, 2 ** 53 - 2, 2 ** 53 - 1])
  },

  'of two stores that apply the same batch at once one does': async (fixture) => {
    const { store, generation } = await started(fixture)
    const other = await fixture.open()
    let expected: Checkpoint = startOfPartition
    for (let id = 1; id <= 20; id++) {
      const batch: Batch = batchAfter(expected, { inserts: [insert(id)] })
      const results = await Promise.all([store, other].map((each) => each.apply(generation, batch)))
      expect(results.map(({ outcome }) => outcome).sort()).toEqual(['applied', 'checkpoint_mismatch'])
      expected = batch.checkpoint
    }
    expect(await other.checkpoints(generation)).toEqual(new Map([[0, expected]]))
  },

  'a thousand documents in five indexes, with a thousand parked events, are one batch': async (fixture) => {
    const { store, generation } = await started(fixture)
    const indexes = ['a', 'b', 'c', 'd', 'e']
    const ids = Array.from({ length: 1000 }, (_, i) => i + 1)
    const parked = ids.map((id) => `subject ${id}`)
    await applyAll(store, generation, firstBatch({ inserts: ids.map((id) => insert(id, indexes)), parked }))
    for (const index of [undefined, ...indexes]) expect(await idsIn(store, generation, index)).toEqual(ids)
    expect((await store.partitionStates(generation, [0]))?.get(0)?.parkedSubjects).toEqual(new Set(parked))
    const { outcome, ...rest } = await store.apply(
      generation,
      firstBatch({ partition: 1, inserts: ids.map((id) => insert(id, indexes)) }),
    )
    expect(outcome).toBe('ids_taken')
    expect(rest).toEqual({ tags: new Map(ids.map((id) => [id, insert(id).tag])) })
  },

  'another store sees all of a batch or nothing of it': async (fixture) => {
    const { store, generation } = await started(fixture)
    const reader = await fixture.open()
    let reading = true
    const seen: RangeAnswer[] = []
    const reads = (async () => {
      while (reading) {
        const asked = [undefined, 'a', 'b'].map((index) => reader.range(generation, { index, from: 1, limit: 10_000 }))
        seen.push(...(await Promise.all(asked)))
      }
    })()
    let expected: Checkpoint = startOfPartition
    for (let first = 1; first <= 2000; first += 200) {
      const inserts = Array.from({ length: 200 }, (_, i) => insert(first + i, ['a', 'b']))
      const batch = batchAfter(expected, { inserts })
      await applyAll(store, generation, batch)
      expected = batch.checkpoint
    }
    reading = false
    await reads
    for (const answer of seen) {
      const applied = answer.moment.checkpoints.get(0)?.applied ?? 0
      expect([answer.count, answer.held, answer.added]).toEqual([applied, applied, applied])
      expect(idsOf(answer)).toHaveLength(applied)
    }
    expect((await contents(reader, generation)).documents.held).toBe(2000)
  },

  'another store sees a generation as it was while the one that it names was active': async (fixture) => {
    const { store, generation } = await started(fixture)
    const reader = await fixture.open()
    const all = { from: 1, limit: 10 }
    let current = generation
    let reading = true
    const seen: { asked: string; answer: RangeAnswer }[] = []
    const reads = (async () => {
      while (reading) {
        const asked = current
        seen.push({ asked, answer: await reader.range(asked, all) })
      }
    })()
    for (let i = 0; i < 50; i++) {
      await applyAll(store, current, firstBatch({ inserts: [insert(1), insert(2)] }))
      const next = newGeneration()
      await store.start(next, current)
      current = next.name
    }
    reading = false
    await reads
    // Each generation got its only batch before the next one took its place.
    const replaced = seen.filter(({ asked, answer }) => answer.moment.active !== asked)
    for (const { answer } of replaced)
      expect([answer.count, answer.held, answer.moment.checkpoints.size]).toEqual([2, 2, 1])
  },
})
