import fc from 'fast-check'
import { expect } from 'vitest'
import type { StoredDocument } from '../../../../src/engine/read-models/document.ts'
import type { Batch } from '../../../../src/engine/read-models/ports/projection.ts'
import type { GenerationData } from '../../../../src/engine/testing/memory/memory-data.ts'
import { anyCharacter } from '../../../lib/any-character.ts'
import { compared } from './compared.ts'
import { topic } from './fixture.ts'
import { at, type BatchContent, batchAfter, booking, markedSeat, removed, rowOf, seat } from './samples.ts'

/** At most one key of a keyed set. */
const keyed = ['n', 'm'].map((name) =>
  fc.constantFrom(
    undefined,
    undefined,
    ...[at('7'), at('7', 'x'), at('7', 'y'), at('77', 'x')].map((key) => key.replace('n', name)),
  ),
)

const text = fc.string({ unit: anyCharacter, maxLength: 5 })

/** What happens to one stream. `blindly`: as if neither the stream nor its documents were there. */
const action = fc.record({
  slot: fc.nat(4),
  ...{ seat: fc.constantFrom('leave', 'put', 'put', 'mark', 'remove'), booking: fc.boolean(), key: fc.boolean() },
  ...{
    indexKeys: fc.subarray(['a', 'ab', '']),
    keyed: fc.tuple(...keyed),
    text,
    version: fc.integer({ min: 1, max: 128 }),
  },
  ...{ parked: fc.constantFrom('leave', 'put', 'remove'), waiting: fc.constantFrom('leave', 'put', 'remove') },
  history: fc.boolean(),
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
  const indexKeys = [...action.indexKeys, ...action.keyed.flatMap((key) => key ?? [])]
  const id = 100 * partition + slot + 1 // every stream is of one partition
  const stream = slot % 2 === 0 ? `${id}` : `{é}/${id}\u0000`
  const put = (after: StoredDocument) => {
    const before = data.documents(after.collection).get(id)
    return { before: blindly ? undefined : before, after }
  }
  const shown = data.documents('seats').get(id)
  const removes = action.seat === 'remove' && shown !== undefined
  const puts =
    action.seat === 'put'
      ? [put(seat(id, indexKeys, action.version, action.text))]
      : action.seat === 'mark'
        ? [put(markedSeat(id, indexKeys, action.text))]
        : []
  const hasDocument = stream === `${id}` && (puts.length > 0 || (shown !== undefined && !removes))
  const [chunk, isWaiting] = [`0/${stream}`, data.text('waiting', `0/${stream}`) !== undefined]
  const isKnown = data.text('keys', `${partition}/${slot}`) !== undefined
  return {
    newStreams: blindly ? [stream] : [],
    documents: [
      ...puts,
      ...(removes ? removed(shown) : []),
      ...(action.booking ? [put(booking(id, indexKeys, action.text, `${id}`))] : []),
    ],
    rows: hasDocument && action.seat !== 'mark' ? [] : [rowOf(stream, action.version)],
    rowsShown: hasDocument && action.seat === 'put' && data.text('rows', stream) !== undefined ? [stream] : [],
    keys: action.key && !isKnown ? [`${slot}`] : [],
    history: action.history ? [[chunk, 'a text']] : [],
    parked: action.parked === 'put' ? [stream] : [],
    unparked: action.parked === 'remove' && data.text('parked', stream) !== undefined ? [stream] : [],
    waiting: action.waiting === 'put' ? [[chunk, `${slot},${action.version + slot}`]] : [],
    waitingNoMore: action.waiting === 'remove' && isWaiting ? [chunk] : [],
  }
}

function batchOf({ partition, actions, expected }: Step, data: GenerationData): Batch {
  const checkpoint = data.checkpoint(partition)
  const content: Record<string, unknown[]> = {}
  for (const action of actions) {
    for (const [name, list] of Object.entries(changesOf(action, partition, data))) {
      content[name] = [...(content[name] ?? []), ...list]
    }
  }
  const batch = batchAfter({ partition, checkpoint }, content as BatchContent)
  const counts = { ...checkpoint.counts, skipped: checkpoint.counts.skipped + 1 }
  const mistakes = { stored: {}, 'other counts': { counts }, 'another position': { next: checkpoint.next + 1 } }
  return { ...batch, expected: { ...checkpoint, ...mistakes[expected] } }
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
