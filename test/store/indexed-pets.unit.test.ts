import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { beginningOf, entryId, type IndexKey, isKeyed, setName } from '../../src/engine/read-models/document.ts'
import { documentsOf, project } from '../engine/projector/projecting.ts'
import { petstore } from './petstore.ts'
import { orderEvent, petChanged, petCreated, petRemoved } from './records.ts'

const [least, greatest] = [-(2n ** 63n), 2n ** 63n - 1n]
const anyCategory = fc.constantFrom<(number | bigint)[]>(0, 1, 2, -1, 11, least, greatest)

const anyStep = fc.record({
  pet: fc.integer({ min: 1, max: 4 }),
  what: fc.constantFrom('change', 'change', 'change', 'order', 'order', 'order', 'sell', 'remove'),
  categoryId: anyCategory,
  /** Added to the next version: a few take no effect. */
  off: fc.constantFrom(...Array<0>(20).fill(0), 1, -1),
})
type Step = typeof anyStep extends fc.Arbitrary<infer T> ? T : never

const orderTypes = ['OrderPlaced', 'OrderApproved', 'OrderCancelled'] as const

/** Events that follow each other, mostly. What cannot be applied is parked, and the rest of its stream behind it. */
function logOf(steps: readonly Step[]) {
  const streams = new Map<number, { version: number; orders: number; isSold: boolean }>()
  return steps.map(({ pet: id, what, categoryId, off }) => {
    const stream = streams.get(id) ?? { version: 0, orders: 0, isSold: false }
    streams.set(id, stream)
    if (off === 0) stream.version++
    const over = { version: stream.version + off }
    const [order, step] = [100 * id + Math.floor(stream.orders / 3), stream.orders % 3]
    const status = stream.isSold ? 'sold' : step === 0 ? 'available' : 'pending'
    const pet = { id, categoryId: categoryId as never, status } as const
    if (stream.version <= 1) return petCreated(pet, over)
    if (what === 'remove' && status !== 'pending') return petRemoved(id, over)
    if (what === 'change' || what === 'remove' || stream.isSold) return petChanged(pet, over)
    if (what === 'order' || step !== 2)
      return orderEvent(orderTypes[stream.orders++ % 3] ?? 'OrderPlaced', id, order, over.version)
    stream.isSold = true
    return orderEvent('OrderDelivered', id, order, over.version)
  })
}

/** What a set that is ordered by keys should have, by what the documents of its collection say. */
function entriesSaid(
  found: Awaited<ReturnType<Awaited<ReturnType<typeof project>>['read']>>,
  collection: string,
  filter: string,
) {
  const all = Object.values(documentsOf(found, collection)) as { id: number; status: string }[]
  const json = (id: number) => found.documents[collection]?.find(([each]) => each === `${id}`)?.[1].split('\0')[0] ?? ''
  return all
    .map(({ id, status }) => {
      // As it is written: a number of JavaScript has not all of its digits.
      const value = new RegExp(`"${filter}":(-?\\d+)`).exec(json(id))?.[1] ?? ''
      const key: IndexKey = `${filter}=${value.length}:${value}${status} `
      return [entryId(beginningOf(key) ?? '', id), json(id)]
    })
    .sort()
}

describe('pets of a category, and orders of a pet', () => {
  it('are what the documents say, whatever happened', async () => {
    const seen = { pets: 0, orders: 0 }
    await fc.assert(
      fc.asyncProperty(
        fc.array(anyStep, { minLength: 10, maxLength: 30, size: 'max' }),
        fc.array(fc.nat(30)),
        async (steps, cuts) => {
          const log = logOf(steps)
          const found = await (await project(log, cuts, petstore)).read()
          for (const [collection, filter] of [
            ['pets', 'categoryId'],
            ['orders', 'petId'],
          ] as const) {
            const entries = found.documents[setName(collection, `${filter}=`)] ?? []
            expect(entries).toEqual(entriesSaid(found, collection, filter))
            seen[collection] += entries.length
          }
          const keyed = Object.keys(found.documents).filter(isKeyed)
          expect(['pets:categoryId=', 'orders:petId=']).toEqual(expect.arrayContaining(keyed))
        },
      ),
      { numRuns: 150 },
    )
    expect(Math.min(...Object.values(seen))).toBeGreaterThan(100)
  })
})
