import { randomUUID, randomUUIDv7 } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { eventTag, eventTagLength } from '../../src/read-models/event-tag.ts'

describe('eventTag', () => {
  it('has one length and one value for any event id', () => {
    const ids = fc.oneof(fc.string({ unit: 'grapheme' }), fc.uuid(), fc.string({ minLength: 36, maxLength: 36 }))
    fc.assert(
      fc.property(ids, (id) => {
        expect(eventTag(id)).toHaveLength(eventTagLength)
        expect(eventTag(id)).toBe(eventTag(id))
      }),
    )
  })

  it('tells the ids of this service apart, and random ones', () => {
    const ids = [
      ...Array.from({ length: 10_000 }, () => randomUUIDv7()),
      ...Array.from({ length: 10_000 }, () => randomUUID()),
    ]
    expect(new Set(ids.map(eventTag)).size).toBe(ids.length)
  })

  it.each([
    ['numbers', (n: number) => `order-${n}`],
    ['ids that end alike', (n: number) => `${n}-and-a-long-end-that-is-the-same`],
    // Versions 1 and 6 end in the address of the machine
    ['UUIDs made from the time', (n: number) => `${String(n).padStart(8, '0')}-a1ff-11f0-8de9-0242ac120002`],
    ['what only looks like a UUID', (n: number) => `${String(n).padStart(8, '0')}-a1ff-4100-cde9-0242ac120002`],
    ['UUIDs in capitals', (n: number) => `${String(n).padStart(8, '0')}-A1FF-4100-8DE9-0242AC120002`],
  ])('tells %s apart', (_, idOf) => {
    const ids = Array.from({ length: 1000 }, (_, n) => idOf(n))
    expect(new Set(ids.map(eventTag)).size).toBe(ids.length)
  })
})
