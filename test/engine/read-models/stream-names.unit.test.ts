import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { StreamNames } from '../../../src/engine/read-models/stream-names.ts'

const names = new StreamNames(['seats', 'halls', 'stage-doors'])
const id = fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER })

describe('the name of a stream', () => {
  it('is the id of its document in decimal in the first kind, and has the collection before it in any other', () => {
    const all = ['seats', 'halls', 'stage-doors', 'bookings'].map((collection) => names.streamOf({ collection, id: 7 }))
    expect(all).toEqual(['7', 'halls/7', 'stage-doors/7', undefined])
    expect(names.keyOf({ collection: 'bookings', id: 7 })).toBe('7')
  })

  it('and its document say each other, and its kind', () => {
    fc.assert(
      fc.property(fc.constantFrom(...names.collections), id, (collection, of) => {
        const stream = names.streamOf({ collection, id: of }) ?? ''
        expect(names.documentOf(stream)).toEqual({ collection, id: of })
        expect(names.collections[Number(names.kindOf(stream))]).toBe(collection)
      }),
    )
  })

  it('of two documents differs', () => {
    const document = fc.record({
      collection: fc.constantFrom(...names.collections),
      id: fc.integer({ min: 1, max: 20 }),
    })
    fc.assert(
      fc.property(document, document, (one, other) => {
        const isSame = one.collection === other.collection && one.id === other.id
        expect(names.streamOf(one) === names.streamOf(other)).toBe(isSame)
      }),
    )
  })

  it.each([
    'halls/',
    'halls/0',
    'halls/007',
    'halls/7.0',
    'halls/7/8',
    'halls/x',
    'halls/9007199254740993',
    'halls/7\n',
  ])('is %j of no kind, in no release', (name) => {
    expect([names.kindOf(name), names.documentOf(name)]).toEqual([undefined, undefined])
  })

  it.each(['seats/7', 'seats/', 'seats/x'])('is %j of no kind, since the first has bare ids', (name) => {
    expect([names.kindOf(name), names.documentOf(name)]).toEqual([undefined, undefined])
  })

  it.each(['bookings/1', 'other/9007199254740991', 'a-b/12'])('is %j of a kind of a later release', (name) => {
    expect([names.kindOf(name), names.documentOf(name)]).toEqual(['newer', undefined])
  })

  it.each(['', '0', '007', '7/8', 'elsewhere', 'other/x', 'Halls/7', 'halls', '/7', 'other/007', ' halls/7'])(
    'is any other of the first kind: %j',
    (name) => expect([names.kindOf(name), names.documentOf(name)]).toEqual([0, undefined]),
  )
})
