import fc from 'fast-check'
import { expect } from 'vitest'
import { rebuild } from '../../../../src/engine/rebuilding/rebuild.ts'
import { verify } from '../../../../src/engine/rebuilding/verify.ts'
import { type Happening, madeUp, madeUpDiscard } from '../../projector/made-up.ts'
import { memoryReadModels } from '../memory-read-models.ts'
import { contentOf } from './contents.ts'
import { topic } from './fixture.ts'
import { happenings, logger, logOf, projected } from './happenings.ts'

const anyHappening = fc.record({
  stream: fc.constantFrom('1', '2', '3'),
  op: fc.constantFrom<Happening['op'][]>(
    ...(['change', 'change', 'change', 'remove', 'show again', 'show other', 'remove other', 'fail'] as const),
  ),
  discards: fc.constantFrom(false, false, false, true),
  n: fc.integer({ min: 100, max: 103 }),
})

export const removal = topic('removal', {
  'a removed document is not there, its row is, and nothing shows it again': async (fixture) => {
    const store = await fixture.open()
    const log = logOf(happenings({ op: 'change' }, { op: 'remove' }, { op: 'change' }, { op: 'show again' }))
    for (const cuts of [[], [1], [2], [1, 2, 3]]) {
      const name = await projected(store, log, cuts)
      const seat = { collection: 'seats', id: 1 }
      expect(await store.reads.find(name, seat)).toMatchObject({ document: undefined, proof: { isComplete: true } })
      const { row, parked } = await store.reads.load(name, { stream: '1' })
      expect(row).toMatchObject({ version: 3, isRemoved: true, document: undefined })
      expect(parked).toMatchObject({ first: 3, reason: 'seats 1 is removed' })
      expect((await store.inspection.contents(name))?.sizes.get('seats')?.recorded ?? 0).toBe(0)
    }
  },

  'only the document of the stream itself can be removed': async (fixture) => {
    const store = await fixture.open()
    const log = logOf(happenings({ op: 'show other' }, { op: 'remove other' }))
    const name = await projected(store, log)
    const { parked } = await store.reads.load(name, { stream: '1' })
    expect(parked?.reason).toBe('bookings 101 is not the document of the stream, and cannot be removed')
    const booking = await store.reads.find(name, { collection: 'bookings', id: 101 })
    expect(booking.document).toMatchObject({ stream: '1' })
  },

  'whatever happens, in whatever batches, a store comes to what one batch comes to in the simplest one': async (
    fixture,
  ) => {
    const store = await fixture.open()
    const anyCuts = fc.array(fc.integer({ min: 1, max: 25 }), { maxLength: 6 })
    await fc.assert(
      fc.asyncProperty(fc.array(anyHappening, { maxLength: 25, size: 'max' }), anyCuts, async (draws, cuts) => {
        const ops = happenings(...draws)
        const records = ops.map((each, i) =>
          draws[i]?.discards ? madeUpDiscard(draws[i].stream, i > 0 ? (draws[i].n * 7) % i : 0) : each,
        )
        const log = logOf(records)
        const name = await projected(store, log, cuts)
        const simplest = memoryReadModels()
        const expected = await projected(simplest, log)
        expect(await contentOf(store, name)).toEqual(await contentOf(simplest, expected))
      }),
      { numRuns: 40 },
    )
  },

  'read models with removed documents are verified, and built anew': async (fixture) => {
    const store = await fixture.open()
    const ops = ['1', '2', '3'].flatMap((stream) => {
      const last = stream === '2' ? 'change' : 'remove'
      return (['change', 'show other', last, 'change'] as const).map((op) => ({ op, stream }))
    })
    const log = logOf(happenings(...ops))
    const before = await contentOf(store, await projected(store, log, [2, 3, 7]))
    expect(before?.sizes.get('seats')).toEqual({ actual: 1, recorded: 1 })
    const options = { log, store, definition: madeUp as never, logger }
    const verified = async () => (await verify({ ...options, scratch: memoryReadModels() })).differences
    expect(await verified()).toEqual([])
    expect(await rebuild(options)).toBe('activated')
    expect(await contentOf(store, (await store.generations.active())?.name ?? '')).toEqual(before)
    expect(await verified()).toEqual([])
  },
})
