import fc from 'fast-check'
import { expect } from 'vitest'
import type { Batch } from '../../../src/read-models/projection-store.ts'
import { anyCharacter } from '../../lib/any-character.ts'
import type { GenerationData } from '../memory-data.ts'
import { compared } from './compared.ts'
import { topic } from './fixture.ts'
import { batchAfter, order, pet, rowOf } from './samples.ts'

const text = fc.string({ unit: anyCharacter, maxLength: 5 })

/** What happens to one stream. `blindly`: as if neither the stream nor its documents were there. */
const action = fc.record({
  slot: fc.nat(4),
  ...{ pet: fc.boolean(), order: fc.boolean(), key: fc.boolean() },
  ...{ indexes: fc.subarray(['a', 'ab', '']), text },
  parked: fc.constantFrom('leave', 'leave', 'park', 'park', 'park again', 'unpark the first', 'unpark all'),
  blindly: fc.constantFrom(false, false, false, false, true),
})

const step = fc.record({
  partition: fc.constantFrom(0, 0, 1, 10),
  actions: fc.uniqueArray(action, { selector: ({ slot }) => slot }),
  expected: fc.constantFrom('stored', 'stored', 'stored', 'stored', 'stored', 'other counts', 'another position'),
  times: fc.constantFrom(1, 1, 2),
})

type Step = typeof step extends fc.Arbitrary<infer T> ? T : never
type Action = Step['actions'][number]

/** What an action adds to a batch that is valid where the data are; or not, where the action says so. */
function changesOf({ slot, blindly, ...action }: Action, partition: number, data: GenerationData) {
  const id = 100 * partition + slot + 1 // every stream is of one partition
  const stream = slot % 2 === 0 ? `${id}` : `{é}/${id}\u0000`
  const put = (document: typeof pet) => {
    const before = data.documents(document(id).collection).get(id)
    const after = document(id, action.indexes, (before?.version ?? 0) + 1, action.text)
    return { before: blindly ? undefined : before, after }
  }
  const hasDocument = stream === `${id}` && (action.pet || data.documents('pets').has(id))
  const queue = data.queue(stream)
  const isKnown = data.key({ partition, key: `${slot}` }) !== undefined
  return {
    newStreams: blindly ? [stream] : [],
    documents: [...(action.pet ? [put(pet)] : []), ...(action.order ? [put(order)] : [])],
    rows: hasDocument ? [] : [rowOf(stream, action.text.length + 1)],
    rowsShown: hasDocument && data.rows.has(stream) ? [stream] : [],
    keys: action.key && !isKnown ? [`${slot}`] : [],
    parked: action.parked === 'park' ? [stream] : [],
    unparked: { 'unpark the first': queue.slice(0, 1), 'unpark all': queue }[action.parked as string] ?? [],
    again: action.parked === 'park again' ? queue.slice(0, 1).map((event) => ({ ...event, reason: action.text })) : [],
  }
}

function batchOf({ partition, actions, expected }: Step, data: GenerationData): Batch {
  const checkpoint = data.checkpoint(partition)
  const nothing: ReturnType<typeof changesOf> = {
    ...{ newStreams: [], documents: [], rows: [], rowsShown: [], keys: [], parked: [], unparked: [], again: [] },
  }
  for (const action of actions) {
    for (const [name, list] of Object.entries(changesOf(action, partition, data))) {
      nothing[name as 'keys'].push(...(list as string[]))
    }
  }
  const { again, ...content } = nothing
  const batch = batchAfter({ partition, checkpoint }, content)
  const counts = { ...checkpoint.counts, skipped: checkpoint.counts.skipped + 1 }
  const mistakes = { stored: {}, 'other counts': { counts }, 'another position': { next: checkpoint.next + 1 } }
  return { ...batch, expected: { ...checkpoint, ...mistakes[expected] }, parked: [...again, ...batch.parked] }
}

export const model = topic('the model', {
  'after any batches a store gives the answers that the simplest possible one gives': async (fixture) => {
    const store = await fixture.open()
    const outcomes = new Set<string>()
    // Where this fails, fast-check tells the seed.
    await fc.assert(
      fc.asyncProperty(fc.array(step, { size: 'medium', maxLength: 15 }), async (steps) => {
        const { data, applyOne, apply } = await compared(store)
        for (const step of steps) {
          const batch = batchOf(step, data)
          for (let time = 1; time <= step.times; time++) outcomes.add((await applyOne(batch)).outcome)
        }
        await apply()
      }),
      { numRuns: 60 },
    )
    expect([...outcomes].sort()).toEqual(['applied', 'checkpoint_mismatch', 'exist'])
  },
})
