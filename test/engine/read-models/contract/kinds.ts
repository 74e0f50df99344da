import { expect } from 'vitest'
import type { StoredDocument } from '../../../../src/engine/read-models/document.ts'
import { decodeRow } from '../../../../src/engine/read-models/stored-texts.ts'
import { topic } from './fixture.ts'
import {
  added,
  applyAll,
  batchAfter,
  booking,
  checkpointsAfter,
  firstBatch,
  hall,
  home,
  halls as kind,
  markedSeat,
  rowOf,
  seat,
  started,
} from './samples.ts'
import { greatestId, jsonOf, rowText } from './values.ts'

const request = { partition: 0, keys: [], waiting: [] }

/** Whose rows tell them apart. */
const both = [seat(7, [], 3), hall(7, [], 5)]
const rowOfHall = decodeRow('halls/7', jsonOf(7), rowText(5))
const marked: StoredDocument = { ...markedSeat(9), collection: kind }

export const kinds = topic('kinds of streams', {
  'with one id are two documents and two streams': async (fixture) => {
    const { store, generation } = await started(fixture)
    const first = firstBatch({ newStreams: ['7', 'halls/7'], documents: added(...both) })
    await applyAll(store, generation, first)
    const rows = (await store.projection.load(generation, { ...request, streams: ['7', 'halls/7', 'seats/7'] }))?.rows
    expect([...(rows ?? [])].map(([stream, row]) => [stream, row?.version])).toEqual([
      ['7', 3],
      ['halls/7', 5],
    ])
    for (const [collection, stream, version] of [
      [home, '7', 3],
      [kind, 'halls/7', 5],
    ] as const) {
      const document = { collection, id: 7 }
      expect((await store.reads.find(generation, document)).document).toEqual({ json: jsonOf(7), stream })
      for (const query of [{ document }, { stream }, { document, stream }])
        expect((await store.reads.load(generation, query)).row).toMatchObject({ stream, version })
    }
    expect((await store.reads.load(generation, { stream: 'seats/7' })).row).toBeUndefined()
  },

  'a document that a stream shows beside its own leads to it, of whichever kind it is': async (fixture) => {
    const { store, generation } = await started(fixture)
    const shown = [booking(11, [], '', 'halls/7'), booking(12, [], '', '7'), booking(13, [], '', 'halls/9')]
    const documents = added(...both, ...shown, marked)
    await applyAll(store, generation, firstBatch({ documents, rows: [rowOf('halls/9', 6)], parked: ['halls/7'] }))
    const load = (id: number) => store.reads.load(generation, { document: { collection: 'bookings', id } })
    expect(await load(11)).toMatchObject({ row: rowOfHall, parked: { stream: 'halls/7' }, proof: { isComplete: true } })
    expect(await load(12)).toMatchObject({ row: { stream: '7', version: 3 }, parked: undefined })
    expect(await load(13)).toMatchObject({ row: { stream: 'halls/9', version: 6, document: jsonOf(9) } })
    const together = await store.reads.loadAll(
      generation,
      [11, 12, 13].map((id) => ({ document: { collection: 'bookings', id } })),
    )
    expect(together.map(({ row }) => row?.stream)).toEqual(['halls/7', '7', 'halls/9'])
  },

  'a new stream is refused if there is its document, a row or something parked, and no stream of another kind': async (
    fixture,
  ) => {
    const { store, generation } = await started(fixture)
    const first = firstBatch({ documents: added(...both), rows: [rowOf('halls/8')], parked: ['halls/10'] })
    await applyAll(store, generation, first)
    const newStreams = ['7', '8', '9', '10', 'halls/7', 'halls/8', 'halls/9', 'halls/10']
    const refused = await store.projection.apply(generation, batchAfter(first, { newStreams }))
    expect(refused).toMatchObject({ outcome: 'exist', documents: [] })
    const { streams } = refused as { streams: readonly string[] }
    expect([...streams].sort()).toEqual(['7', 'halls/10', 'halls/7', 'halls/8'])
    const again = batchAfter(first, { newStreams: ['halls/7'], documents: added(hall(7)) })
    const taken = await store.projection.apply(generation, again)
    expect(taken).toEqual({ outcome: 'exist', streams: ['halls/7'], documents: [{ collection: kind, id: 7 }] })
    const others = batchAfter(first, { newStreams: ['8', '9', 'halls/9'], documents: added(seat(8), hall(9), seat(9)) })
    await applyAll(store, generation, others)
  },

  'what is under an id is held of each kind': async (fixture) => {
    const { store, generation } = await started(fixture)
    const first = firstBatch({ rows: [rowOf('halls/20'), rowOf('other/30'), rowOf('halls/007')], parked: ['halls/40'] })
    await applyAll(store, generation, first)
    const held = async (id: number) => {
      const found = await store.reads.heldIds(generation, { collections: [home, kind], first: id, last: id })
      expect(found.proof).toMatchObject({ checkpoints: checkpointsAfter(first), isComplete: true })
      return found.holdsAny
    }
    expect(await Promise.all([20, 30, 40, 7, greatestId].map(held))).toEqual([true, false, true, false, false])
  },

  'an entry that is missing of a kind is noticed where its streams are asked for': async (fixture) => {
    const { store, generation } = await started(fixture)
    const first = firstBatch({ documents: added(...both, booking(11, [], '', 'halls/7')) })
    await applyAll(store, generation, first)
    await fixture.damage(generation, kind, 7)
    const isWhole = async (query: Parameters<typeof store.reads.load>[1]) =>
      (await store.reads.load(generation, query)).proof.isComplete
    expect(await isWhole({ stream: 'halls/7' })).toBe(!fixture.provesSizes)
    expect(await isWhole({ document: { collection: 'bookings', id: 11 } })).toBe(!fixture.provesSizes)
    const next = await store.projection.apply(generation, batchAfter(first))
    expect(next).toEqual({ outcome: fixture.provesSizes ? 'incomplete' : 'applied' })
  },
})
