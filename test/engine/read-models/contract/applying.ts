import { expect } from 'vitest'
import type { DocumentId } from '../../../../src/engine/read-models/document.ts'
import type { Item } from '../../../../src/engine/read-models/ports/inspection.ts'
import {
  type Checkpoint,
  type Counts,
  decodeRow,
  startOfPartition,
} from '../../../../src/engine/read-models/stored-texts.ts'
import { compared } from './compared.ts'
import { contentOf } from './contents.ts'
import { topic } from './fixture.ts'
import { fullBatch } from './full.ts'
import {
  added,
  applyAll,
  type BatchContent,
  batchAfter,
  booking,
  changed,
  firstBatch,
  idsIn,
  removed,
  rowOf,
  seat,
  started,
} from './samples.ts'
import { greatestId, numbers, rowText } from './values.ts'

export const applying = topic('applying', {
  'new documents are in their collection and in their indexes': async (fixture) => {
    const { store, generation, apply } = await compared(await fixture.open())
    const ids = [9, 10, 11, 100, 2 ** 31, 2 ** 32 + 1, 10 ** 15 + 1, greatestId - 2, greatestId - 1, greatestId]
    const names = ['', '0', 'logId', 'seats', 'rows', 'status:sold', '__proto__', 'é 🐕', '{x}']
    const seats = ids.map((id, i) => seat(id, [...names.slice(i), 'a']))
    const first = firstBatch({ documents: added(seat(3, ['a', 'b']), seat(1, ['b']), seat(2)), newStreams: ['1', '4'] })
    await apply(first, firstBatch({ documents: added(booking(3, ['a']), ...seats.toReversed()) }, 1), batchAfter(first))
    expect(await idsIn(store, generation)).toEqual([1, 2, 3, ...ids])
    expect(await idsIn(store, generation, 'b')).toEqual([1, 3])
  },

  'a document changes in its row or text alone, and is given back as it is': async (fixture) => {
    const { store, generation, apply } = await compared(await fixture.open())
    const jsons = [',\n\t"n" : 1.0, "n":"},{é🐕\\u0000"}\r\n', '}', `,"x":"${'🐈'.repeat(50_000)}"}`]
    const changes = [
      ...[{}, { behind: rowText(9, '') }, { behind: '3x 4AAAA,-8AAAA,15AAAA {"a":[1, 2]}\n é🐕  ' }],
      ...[...jsons.map((end) => ({ json: `{"id":7${end}` })), {}],
    ]
    const states = changes.map((change) => ({ ...seat(7, ['a']), ...change }))
    let batch = firstBatch({ documents: added(seat(7, ['a']), seat(8, ['a'])) })
    for (const [i, after] of states.entries()) {
      await apply(batch)
      const { json, behind } = after
      const loaded = await store.reads.load(generation, { stream: '7' })
      expect(loaded.row).toEqual(decodeRow('7', json, behind))
      batch = batchAfter(batch, { documents: changed([after], states.slice(i + 1, i + 2)) })
    }
  },

  'recorded sizes move by what a batch says, and still show what a set that it leaves alone has lost': async (
    fixture,
  ) => {
    const { store, generation } = await started(fixture)
    const first = firstBatch({ documents: added(seat(1, ['a']), seat(2, ['a', 'b']), seat(3, ['a'])) })
    await applyAll(store, generation, first)
    await fixture.damage(generation, 'seats:b', 2)
    const change = changed([seat(1, ['a'])], [seat(1, ['c'], 2)])
    await applyAll(store, generation, batchAfter(first, { documents: [...change, ...added(seat(4, ['a']))] }))
    const sizes = (await contentOf(store, generation))?.sizes
    const expected = { seats: [4, 4], 'seats:a': [3, 3], 'seats:b': [0, 1], 'seats:c': [1, 1] }
    for (const [set, [actual, recorded]] of Object.entries(expected))
      expect(sizes?.get(set)).toEqual({ actual, recorded })
  },

  'thousands of everything are one batch': async (fixture) => {
    const { store, generation } = await started(fixture)
    const ids = numbers(2500)
    const texts = ids.map((id) => `text ${id}`)
    const [before, after] = [ids.map((id) => seat(id, ['a', 'b'])), ids.map((id) => seat(id, ['b', 'c'], 2))]
    const chunks = texts.map((text): Item => [`0/${text}`, '1,2'])
    const others = {
      rows: texts.map((text) => rowOf(text)),
      keys: texts,
      parked: texts,
      history: chunks,
      waiting: chunks,
    }
    const first = firstBatch({ documents: added(...before), newStreams: ids.map(String), ...others })
    await applyAll(store, generation, first)
    const again = firstBatch({ documents: added(...before), newStreams: texts }, 1)
    const refusal = await store.projection.apply(generation, again)
    expect(refusal).toMatchObject({ outcome: 'exist', streams: { length: 2500 }, documents: { length: 2500 } })
    const waiting = chunks.map(([id]) => id)
    const request = { partition: 0, streams: [...texts, ...ids.map(String)], keys: texts, waiting }
    const state = await store.projection.load(generation, request)
    const found = [state?.rows, state?.decidedKeys, state?.parked, state?.waiting].map((each) => each?.size)
    expect(found).toEqual([5000, 2500, 2500, 2500])
    const documents = [...changed(before.slice(1), after.slice(1)), ...removed(...before.slice(0, 1))]
    const opposite = { documents, rowsShown: texts, unparked: texts.slice(1), waitingNoMore: waiting }
    await applyAll(store, generation, batchAfter(first, opposite))
    const content = await contentOf(store, generation)
    expect(content?.sets.get('rows')).toEqual(new Map())
    expect([...(content?.sets.get('parked')?.keys() ?? [])]).toEqual(texts.slice(0, 1))
    expect(content?.sets.get('waiting')).toEqual(new Map())
    expect([await idsIn(store, generation, 'a'), await idsIn(store, generation, 'c')]).toEqual([[], ids.slice(1)])
    const sized = (size: number) => ({ actual: size, recorded: size })
    const sets = ['seats', 'seats:b', 'seats:c', 'keys', 'history'].map((set) => content?.sizes.get(set))
    expect(sets).toEqual([2499, 2499, 2499, 2500, 2500].map(sized))
  },
})

/** Writes to every set. */
const further: BatchContent = {
  documents: [...added(seat(3, ['a']), booking(6)), ...changed([seat(1, ['a', 'b'])], [seat(1, ['c'], 2)])],
  ...{ newStreams: ['3', 'new'], rows: [rowOf('s', 2), rowOf('new')], keys: ['l'], parked: ['new', 'parked'] },
  ...{ history: [['0/new', 'a text']], waiting: [['0/new', '7']] },
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
    const batch = batchAfter(fullBatch(), { ...further, parked: ['new'], unparked: ['parked'] })
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
    const [seats, streams] = [
      (...ids: number[]) => ids.map((id) => ({ collection: 'seats', id })),
      ['1', 's', 'parked'],
    ]
    const cases: [BatchContent, Existing][] = [
      [{ documents: added(seat(2, ['a'])) }, { documents: seats(2) }],
      [
        { documents: added(booking(2), seat(5), booking(5, [], 'another')) },
        { documents: [{ collection: 'bookings', id: 5 }] },
      ],
      [{ documents: [...added(seat(1)), ...changed([seat(2, ['a'])], [seat(2)])] }, { documents: seats(1) }],
      ...streams.map((stream): [BatchContent, Existing] => [{ newStreams: ['5', stream, 'x'] }, { streams: [stream] }]),
      [
        { ...further, documents: added(seat(1), seat(2), seat(3)), newStreams: [...streams, '3'] },
        { streams, documents: seats(1, 2) },
      ],
    ]
    for (const [content, existing] of cases) {
      for (const batch of [batchAfter(fullBatch(), content), firstBatch(content, 1)]) {
        expect(await apply(batch)).toMatchObject({ outcome: 'exist', streams: [], documents: [], ...existing })
      }
    }
    const second = batchAfter(fullBatch(), { unparked: ['parked'], documents: added(seat(greatestId - 1)) })
    const third = batchAfter(second, {
      newStreams: ['5', 'parked'],
      documents: added(seat(greatestId - 2), seat(greatestId)),
    })
    expect(await apply(second, third)).toEqual({ outcome: 'applied' })
  },
})
