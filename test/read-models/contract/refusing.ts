import { expect } from 'vitest'
import { type Checkpoint, type Counts, startOfPartition } from '../../../src/read-models/checkpoint.ts'
import type { DocumentId } from '../../../src/read-models/document.ts'
import { compared } from './compared.ts'
import { topic } from './fixture.ts'
import { fullBatch } from './full.ts'
import { added, type BatchContent, batchAfter, changed, firstBatch, order, pet, rowOf } from './samples.ts'
import { greatestId } from './values.ts'

/** Writes to every set. */
const further: BatchContent = {
  documents: [...added(pet(3, ['a']), order(6)), ...changed([pet(1, ['a', 'b'])], [pet(1, ['c'], 2)])],
  ...{ newStreams: ['3', 'new'], rows: [rowOf('s', 2), rowOf('new')], keys: ['l'], parked: ['new', 'parked'] },
}

const counts = Object.keys(startOfPartition.counts) as (keyof Counts)[]

/** What is expected in place of the stored checkpoint. */
const mistakes: readonly ((stored: Checkpoint) => Checkpoint)[] = [
  (stored) => ({ ...stored, next: stored.next - 1 }),
  (stored) => ({ ...stored, next: stored.next + 1 }),
  (stored) => ({ ...stored, last: null }),
  (stored) => ({ ...stored, last: { offset: stored.next - 1, identity: 'another' } }),
  (stored) => ({ ...stored, last: { identity: '', ...stored.last, offset: stored.next - 2 } }),
  ...counts.map((count) => (stored: Checkpoint) => {
    return { ...stored, counts: { ...stored.counts, [count]: stored.counts[count] + 1 } }
  }),
  () => startOfPartition,
]

type Existing = { readonly streams?: readonly string[]; readonly documents?: readonly DocumentId[] }

export const refusing = topic('refusing', {
  'a batch that expects another position, record or count than the stored one is a mismatch': async (fixture) => {
    const { apply } = await compared(await fixture.open())
    const batch = batchAfter(fullBatch(), { ...further, unparked: fullBatch().parked })
    await apply(fullBatch())
    for (const mistake of mistakes) {
      const expected = mistake(fullBatch().checkpoint)
      expect(await apply({ ...batch, expected }), JSON.stringify(expected)).toEqual({ outcome: 'checkpoint_mismatch' })
    }
    expect(await apply({ ...batch, partition: 1 })).toEqual({ outcome: 'checkpoint_mismatch' })
    expect(await apply(batch)).toEqual({ outcome: 'applied' })
  },

  'what is taken for new is told where it is there, and nothing is written': async (fixture) => {
    const { apply } = await compared(await fixture.open())
    await apply(fullBatch())
    const [pets, streams] = [(...ids: number[]) => ids.map((id) => ({ collection: 'pets', id })), ['1', 's', 'parked']]
    const cases: [BatchContent, Existing][] = [
      [{ documents: added(pet(2, ['a'])) }, { documents: pets(2) }],
      [{ documents: added(order(2), pet(5), order(5, [], 9)) }, { documents: [{ collection: 'orders', id: 5 }] }],
      [{ documents: [...added(pet(1)), ...changed([pet(2, ['a'])], [pet(2)])] }, { documents: pets(1) }],
      ...streams.map((stream): [BatchContent, Existing] => [{ newStreams: ['5', stream, 'x'] }, { streams: [stream] }]),
      [
        { ...further, documents: added(pet(1), pet(2), pet(3)), newStreams: [...streams, '3'] },
        { streams, documents: pets(1, 2) },
      ],
    ]
    for (const [content, existing] of cases) {
      for (const batch of [batchAfter(fullBatch(), content), firstBatch(content, 1)]) {
        expect(await apply(batch)).toMatchObject({ outcome: 'exist', streams: [], documents: [], ...existing })
      }
    }
    const second = batchAfter(fullBatch(), { unparked: fullBatch().parked, documents: added(pet(greatestId - 1)) })
    const third = batchAfter(second, {
      newStreams: ['5', 'parked'],
      documents: added(pet(greatestId - 2), pet(greatestId)),
    })
    expect(await apply(second, third)).toEqual({ outcome: 'applied' })
  },
})
