import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { ReferenceConsumer } from '../../store/reference-consumer.ts'
import { anyLog } from './any-log.ts'
import { documentsOf, everything, openProjection, parkedIn, project } from './projecting.ts'
import { discard } from './records.ts'

const anyCuts = fc.array(fc.integer({ min: 1, max: 39 }), { maxLength: 10 })

describe('whatever is in the log', () => {
  it('the read models are the same however it is cut into batches', async () => {
    await fc.assert(
      fc.asyncProperty(anyLog({ isSound: false }), anyCuts, async (log, cuts) => {
        const one = await project(log)
        expect(await (await project(log, cuts)).read()).toEqual(await one.read())
        const counts = Object.values(one.counts())
        expect(counts.reduce((sum, count) => sum + count, 0)).toBe(log.length)
      }),
      { numRuns: 300 },
    )
  })

  it('a consumer that knows only the published rule comes to the same pets and orders', async () => {
    await fc.assert(
      fc.asyncProperty(anyLog({ isSound: true }), anyCuts, async (log, cuts) => {
        const consumer = new ReferenceConsumer()
        for (const record of log) consumer.read(record)
        const { store, apply } = await openProjection()
        await apply(log, cuts)
        // What is parked holds up this service, and not the consumer: operators leave out all of it.
        for (let found = await everything(store); found.parked.length > 0; found = await everything(store)) {
          await apply(parkedIn(found).map(({ stream, offset }) => discard(stream, offset)))
        }
        const found = await everything(store)
        expect(documentsOf(found, 'pets')).toEqual(consumer.pets)
        expect(documentsOf(found, 'orders')).toEqual(consumer.orders)
      }),
      { numRuns: 300 },
    )
  })
})
