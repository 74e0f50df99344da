import fc from 'fast-check'
import { expect } from 'vitest'
import { hiddenBehindMax, rowsMark } from '../../../../src/engine/read-models/row-place.ts'
import { decodeRow } from '../../../../src/engine/read-models/stored-texts.ts'
import { rebuild } from '../../../../src/engine/rebuilding/rebuild.ts'
import { verify } from '../../../../src/engine/rebuilding/verify.ts'
import { type Happening, madeUp } from '../../projector/made-up.ts'
import { memoryReadModels } from '../memory-read-models.ts'
import { compared } from './compared.ts'
import { contentOf } from './contents.ts'
import { topic } from './fixture.ts'
import { happenings, logger, logOf, projected } from './happenings.ts'
import {
  added,
  applyAll,
  batchAfter,
  booking,
  changed,
  firstBatch,
  itemsIn,
  markedSeat,
  removed,
  seat,
  started,
} from './samples.ts'
import { rowText } from './values.ts'

const long = 'é🐕'.repeat(5000)
const longRow = (id: number, version = 1) => [`${id}`, rowText(version, long)] as const

/** Beside it about 90 characters more of the state are hidden. */
const anyLength = fc.oneof(
  fc.integer({ min: hiddenBehindMax - 120, max: hiddenBehindMax - 60 }),
  fc.constantFrom(0, hiddenBehindMax, 16_000),
)
const anyHappening = fc.oneof(
  { weight: 3, arbitrary: fc.record({ op: fc.constant<'hide'>('hide'), n: anyLength }) },
  { weight: 1, arbitrary: fc.record({ op: fc.constantFrom<Happening['op'][]>('change', 'remove', 'fail') }) },
)
const anyHappenings = fc.array(fc.tuple(anyHappening, fc.constantFrom('1', '2', 'a/b')), { maxLength: 25, size: 'max' })
const anyCuts = fc.array(fc.integer({ min: 1, max: 25 }), { maxLength: 6 })

export const longRows = topic('long rows', {
  'a row in place of which a mark is behind the document is given back as it is, to whoever loads the stream': async (
    fixture,
  ) => {
    const { store, generation, apply } = await compared(await fixture.open())
    const documents = added(markedSeat(7, ['a']), seat(8, ['a']), booking(70, [], '', '7'))
    const first = firstBatch({ documents, rows: [longRow(7)] })
    await apply(first)
    const row = decodeRow('7', seat(7).json, rowText(1, long))
    const byDocument = ['seats', 'bookings'].map((collection, i) => ({ document: { collection, id: [7, 70][i] ?? 0 } }))
    for (const query of [{ stream: '7' }, ...byDocument]) {
      expect(await store.reads.load(generation, query)).toMatchObject({ row, proof: { isComplete: true } })
    }
    const request = { partition: 0, streams: ['7'], keys: [], waiting: [] }
    const state = await store.projection.load(generation, request)
    expect([state?.rows.get('7'), state?.isComplete]).toEqual([row, true])
    const refused = await apply(batchAfter(first, { newStreams: ['7', '9'] }))
    expect(refused).toEqual({ outcome: 'exist', streams: ['7'], documents: [] })
  },

  'a row moves behind its document, from there, and away from a document that is removed': async (fixture) => {
    const { store, generation, apply } = await compared(await fixture.open())
    const states = [seat(1, ['a']), markedSeat(1, ['a']), markedSeat(1, ['b'], 'é'), seat(1, ['b'], 2), markedSeat(1)]
    const sizeOfRows = async () => (await store.inspection.contents(generation))?.sizes.get('rows')?.actual ?? 0
    let batch = firstBatch({ documents: added(...states.slice(0, 1)) })
    for (const [i, after] of states.entries()) {
      await apply(batch)
      expect(await sizeOfRows()).toBe(after.behind === rowsMark ? 1 : 0)
      const next = states[i + 1]
      batch = batchAfter(batch, {
        documents: next === undefined ? removed(after) : changed([after], [next]),
        ...(next === undefined || next.behind === rowsMark ? { rows: [longRow(1, i + 2)] } : { rowsShown: ['1'] }),
      })
    }
    await apply(batch)
    expect(await sizeOfRows()).toBe(1)
    expect((await store.reads.load(generation, { stream: '1' })).row).toMatchObject({ hidden: long, version: 6 })
  },

  'a mark without its row makes a load incomplete, though every set is as large as recorded': async (fixture) => {
    const { store, generation } = await started(fixture)
    const documents = added(markedSeat(1), seat(2), booking(10, [], '', '1'))
    await applyAll(store, generation, firstBatch({ documents, rows: [longRow(3)] }))
    const { reads } = store
    const loads = [{ stream: '1' }, { document: { collection: 'seats', id: 1 } }, { document: booking(10) }]
    for (const query of loads) {
      expect(await reads.load(generation, query)).toMatchObject({ row: undefined, proof: { isComplete: false } })
    }
    const isComplete = async (...streams: string[]) =>
      (await store.projection.load(generation, { partition: 0, streams, keys: [], waiting: [] }))?.isComplete
    expect([await isComplete('2', '1'), await isComplete('2', '3', '4')]).toEqual([false, true])
    const others = [reads.load(generation, { stream: '2' }), reads.find(generation, { collection: 'seats', id: 1 })]
    for (const { proof } of await Promise.all(others)) expect(proof.isComplete).toBe(true)
    const refused = await store.projection.apply(generation, firstBatch({ newStreams: ['1'] }, 1))
    expect(refused).toEqual({ outcome: 'exist', streams: ['1'], documents: [] })
  },

  'whatever a state hides, in whatever batches: loads give it, little is behind documents, and verify agrees': async (
    fixture,
  ) => {
    const store = await fixture.open()
    await fc.assert(
      fc.asyncProperty(anyHappenings, anyCuts, async (draws, cuts) => {
        const log = logOf(happenings(...draws.map(([each, stream]) => ({ ...each, stream }))))
        const name = await projected(store, log, cuts)
        const simplest = memoryReadModels()
        const expected = await projected(simplest, log)
        expect(await contentOf(store, name)).toEqual(await contentOf(simplest, expected))
        for (const text of (await itemsIn(store, name, 'seats')).values()) {
          expect(text.length).toBeLessThan(hiddenBehindMax + 500)
        }
        const streams = [...new Set(draws.map(([, stream]) => stream))]
        const rows = (await store.projection.load(name, { partition: 0, streams, keys: [], waiting: [] }))?.rows
        for (const stream of streams) {
          const { row, proof } = await store.reads.load(name, { stream })
          expect([row, proof.isComplete]).toEqual([rows?.get(stream), true])
          if (row !== undefined) expect(madeUp.kinds[0].codec.read(row)).toMatchObject({ stream, changes: row.version })
        }
        const options = { log, store, definition: madeUp as never, logger, scratch: memoryReadModels() }
        expect((await verify(options)).differences).toEqual([])
      }),
      { numRuns: 40 },
    )
  },

  'read models with long rows are built anew as they were': async (fixture) => {
    const store = await fixture.open()
    const log = logOf(happenings({ op: 'hide', n: 16_000 }, { op: 'change' }, { op: 'hide', n: 16_000, stream: '2' }))
    const before = await contentOf(store, await projected(store, log, [1]))
    expect(before?.sizes.get('rows')).toEqual({ actual: 2, recorded: 2 })
    expect(await rebuild({ log, store, definition: madeUp as never, logger })).toBe('activated')
    expect(await contentOf(store, (await store.generations.active())?.name ?? '')).toEqual(before)
  },
})
