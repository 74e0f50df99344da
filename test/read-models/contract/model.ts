import fc from 'fast-check'
import { expect } from 'vitest'
import { type Checkpoint, startOfPartition } from '../../../src/read-models/checkpoint.ts'
import type { Batch, ReadModels } from '../../../src/read-models/read-models.ts'
import { MemoryData, MemoryReadModels } from '../memory-read-models.ts'
import { topic } from './fixture.ts'
import { batchAfter, contents, documentOf, greatestId, newGeneration } from './samples.ts'

const id = fc.oneof(fc.integer({ min: 1, max: 40 }), fc.integer({ min: greatestId - 4, max: greatestId }))
const indexes = fc.subarray(['a', 'b'])

const inserts = fc.uniqueArray(
  fc.record({ id, indexes, event: fc.nat(3) }).map(({ id, indexes, event }) => ({
    id,
    indexes,
    document: documentOf(id, `event ${event}`),
    tag: `tag-${event}-------`.slice(0, 12),
  })),
  { selector: ({ id }) => id, maxLength: 6 },
)

const step = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({
      kind: fc.constant('apply' as const),
      partition: fc.constantFrom(0, 1, 2, 10),
      inserts,
      keys: fc.uniqueArray(fc.constantFrom('k', 'l', 'm'), { maxLength: 2 }),
      parked: fc.array(fc.constantFrom('1', '2', '0/1', 'é🐕'), { maxLength: 2 }),
      expected: fc.constantFrom('stored', 'stored', 'stored', 'stale', 'other counts', 'start'),
      deliveries: fc.constantFrom(1, 1, 2),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant('range' as const),
      index: fc.constantFrom(undefined, 'a', 'b', 'none'),
      from: id,
      to: fc.option(id, { nil: undefined }),
      limit: fc.integer({ min: 1, max: 10 }),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant('start' as const), instead: fc.constantFrom('active', 'none', 'other') }),
  },
)
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never
type ApplyStep = Extract<Step, { kind: 'apply' }>

/** Takes the steps on a store; the same steps on two stores that keep the contract give the same trace. */
async function trace(store: ReadModels, steps: readonly Step[], names: readonly string[]): Promise<unknown[]> {
  const [first = '', ...later] = names
  const before = (await store.active())?.name
  await store.start({ name: first, epoch: 'epoch' }, before)
  let generation = first
  const earlier = new Map<number, Checkpoint>()
  const answers: unknown[] = []
  for (const [i, step] of steps.entries()) {
    if (step.kind === 'range') {
      answers.push(await store.range(generation, step))
    } else if (step.kind === 'start') {
      const instead = { active: generation, none: undefined, other: 'another' }[step.instead]
      await store.start({ name: later[i] ?? '', epoch: `epoch ${i}` }, instead)
      generation = (await store.active())?.name ?? ''
      answers.push(generation)
    } else {
      const stored = (await store.checkpoints(generation))?.get(step.partition) ?? startOfPartition
      const batch = batchOf(step, stored, earlier.get(step.partition) ?? stored)
      earlier.set(step.partition, stored)
      for (let delivery = 1; delivery <= step.deliveries; delivery++) answers.push(await store.apply(generation, batch))
    }
    answers.push(await contents(store, generation))
  }
  return answers
}

function batchOf({ expected, ...content }: ApplyStep, stored: Checkpoint, stale: Checkpoint): Batch {
  const otherCounts = { ...stored, skipped: stored.skipped + 1 }
  return batchAfter({ stored, stale, start: startOfPartition, 'other counts': otherCounts }[expected], content)
}

export const model = topic('the model', {
  'any steps give the answers that the simplest possible store gives': async (fixture) => {
    const store = await fixture.open()
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 15 }), async (steps) => {
        const names = Array.from({ length: steps.length + 1 }, () => newGeneration().name)
        const expected = await trace(new MemoryReadModels(new MemoryData()), steps, names)
        expect(await trace(store, steps, names)).toEqual(expected)
      }),
      { numRuns: 60 },
    )
  },
})
