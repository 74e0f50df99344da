import { setImmediate } from 'node:timers/promises'
import { expect } from 'vitest'
import type { Contents } from '../../../../src/engine/read-models/ports/inspection.ts'
import type { Batch, PartitionState } from '../../../../src/engine/read-models/ports/projection.ts'
import type { StoredStream } from '../../../../src/engine/read-models/ports/reads.ts'
import type { ReadModelStore } from '../../../../src/engine/read-models/ports/store.ts'
import { memoryReadModels } from '../memory-read-models.ts'
import { answersOf, Names } from './compared.ts'
import { contentOf } from './contents.ts'
import { topic } from './fixture.ts'
import {
  added,
  applyAll,
  batchAfter,
  changed,
  checkpointsAfter,
  firstBatch,
  newGeneration,
  rowOf,
  seat,
  started,
} from './samples.ts'
import { numbers } from './values.ts'

/** Reads over and over until `work` is done, and once more after it. */
async function readDuring(work: Promise<void>, read: () => Promise<void>): Promise<void> {
  let isWorking = true
  const reading = (async () => {
    while (isWorking) {
      await read()
      await setImmediate()
    }
  })()
  const working = work.finally(() => {
    isWorking = false
  })
  await Promise.all([working, reading])
  await read()
}

/** Batch after batch twenty documents move from one index to the other; a stream is parked, and another has a row. */
function movingBatches(count: number): Batch[] {
  const states = [['a'], ['b']].map((indexes, i) => numbers(20).map((id) => seat(id, indexes, i + 1)))
  const batches = [
    firstBatch({ documents: added(...(states[1] ?? [])), parked: ['s'], rows: [rowOf('t')], keys: ['0'] }),
  ]
  for (const [i, before] of batches.entries()) {
    if (i === count - 1) break
    const [there, gone] = i % 2 === 0 ? ['s', 't'] : ['t', 's']
    const documents = changed(states[(i + 1) % 2] ?? [], states[i % 2] ?? [])
    const content = { documents, rows: [rowOf(there)], rowsShown: [gone], parked: [gone], unparked: [there] }
    batches.push(batchAfter(before, { ...content, keys: [`${i + 1}`] }))
  }
  return batches
}

/** All answers, each with the position at which it was read. */
async function positionedAnswers(store: ReadModelStore, name: string, names: Names) {
  const answers = Object.values(await answersOf(store, name, names)).flat()
  return answers.map((answer) => {
    const { proof, snapshot, checkpoint } = answer as Partial<StoredStream & Contents & PartitionState>
    return { at: (checkpoint ?? (proof ?? snapshot)?.checkpoints.get(0))?.next ?? 0, answer }
  })
}

export const together = topic('together', {
  'every answer of another store shows all of a batch or nothing of it': async (fixture) => {
    const { store, generation } = await started(fixture)
    const simplest = memoryReadModels()
    await simplest.generations.start({ name: generation, logId: 'log-1' }, undefined)
    const [first, ...later] = movingBatches(40) as [Batch, ...Batch[]]
    const names = new Names()
    names.add(later[5] ?? first)
    const expected = new Map<number, Awaited<ReturnType<typeof positionedAnswers>>>()
    for (const batch of [first, ...later]) {
      await applyAll(simplest, generation, batch)
      expected.set(batch.checkpoint.next, await positionedAnswers(simplest, generation, names))
    }
    await applyAll(store, generation, first)
    const reader = await fixture.open()
    const write = async () => {
      for (const batch of later) {
        await applyAll(store, generation, batch)
        await setImmediate()
      }
    }
    await readDuring(write(), async () => {
      for (const [i, { at, answer }] of (await positionedAnswers(reader, generation, names)).entries()) {
        expect(answer).toEqual(expected.get(at)?.[i]?.answer)
      }
    })
  },

  'another store is told of a generation as it was while the one that it names was active': async (fixture) => {
    const { store, generation } = await started(fixture)
    const reader = await fixture.open()
    let current = generation
    const replace = async () => {
      for (let i = 0; i < 50; i++) {
        await applyAll(store, current, firstBatch({ documents: added(seat(1), seat(2)) }))
        const next = newGeneration()
        await store.generations.start(next, current)
        current = next.name
      }
    }
    await readDuring(replace(), async () => {
      const asked = current
      const { proof, count } = await reader.reads.page(asked, { collection: 'seats', after: 0, limit: 10 })
      // Each generation got its only batch before the next one took its place.
      if (proof.active !== asked) expect([count, proof.checkpoints.size]).toEqual([2, 1])
    })
  },

  'of stores that apply at once in one partition one does, and others are not disturbed': async (fixture) => {
    const { store, generation } = await started(fixture)
    const stores = [store, await fixture.open(), await fixture.open()]
    const last = [0, 1].map((partition) => firstBatch({}, partition))
    await applyAll(store, generation, ...last)
    for (let id = 1; id <= 20; id++) {
      const applied = last.map(async (before, partition) => {
        const rival = (i: number) =>
          batchAfter(before, { documents: added(seat(10 * id + partition, [], i)), keys: [`${id}`] })
        const results = await Promise.all(stores.map(({ projection }, i) => projection.apply(generation, rival(i))))
        const outcomes = results.map(({ outcome }) => outcome)
        expect(outcomes.toSorted()).toEqual(['applied', 'checkpoint_mismatch', 'checkpoint_mismatch'])
        last[partition] = rival(outcomes.indexOf('applied'))
      })
      await Promise.all(applied)
    }
    const size = { actual: 40, recorded: 40 }
    const sizes = new Map(Object.entries({ seats: size, keys: size }))
    const checkpoints = checkpointsAfter(...last)
    expect(await contentOf(store, generation)).toMatchObject({ checkpoints, sizes })
  },
})
