import fc from 'fast-check'
import { expect, it } from 'vitest'
import { anyLog, type Consumer, type Words } from '../engine/projector/any-log.ts'
import { documentsOf, everything, openProjection, parkedIn } from '../engine/projector/projecting.ts'
import type { AnyRecord } from '../engine/projector/records.ts'
import { petstore } from './petstore.ts'
import { discard, newerEvent, orderEvent, petChanged, petCreated, petRemoved } from './records.ts'
import { ReferenceConsumer } from './reference-consumer.ts'

const types = ['OrderPlaced', 'OrderApproved', 'OrderDelivered', 'OrderCancelled'] as const

const pets: Words = {
  added: petCreated,
  changed: (type, pet, order, context) =>
    orderEvent(types[type] ?? 'OrderPlaced', pet, order, context.version, context),
  renamed: ({ isFree, ...pet }, context) =>
    petChanged({ ...pet, categoryId: -2, status: isFree ? 'available' : 'pending' }, context),
  removed: petRemoved,
  newer: newerEvent,
  discard,
  newConsumer: () => new Follower(),
}

class Follower extends ReferenceConsumer implements Consumer {
  isFree(id: number): boolean | undefined {
    const pet = this.pets[id]
    return pet && pet.status === 'available'
  }

  changeOf(id: number): number | undefined {
    return Object.values(this.orders).find(({ petId, status }) => petId === id && /placed|approved/.test(status))?.id
  }
}

it('a consumer that knows only the published rule comes to the same pets and orders', async () => {
  const anyCuts = fc.array(fc.integer({ min: 1, max: 39 }), { maxLength: 10 })
  const property = async (log: AnyRecord[], cuts: number[]) => {
    const consumer = new ReferenceConsumer()
    for (const record of log) consumer.read(record)
    const { store, apply } = await openProjection(undefined, petstore)
    await apply(log, cuts)
    // What is parked holds up this service, and not the consumer: operators leave out all of it.
    for (let found = await everything(store); found.parked.length > 0; found = await everything(store)) {
      await apply(parkedIn(found).map(({ stream, offset }) => discard(stream, offset)))
    }
    const found = await everything(store)
    expect(documentsOf(found, 'pets')).toEqual(consumer.pets)
    expect(documentsOf(found, 'orders')).toEqual(consumer.orders)
  }
  await fc.assert(fc.asyncProperty(anyLog({ isSound: true, words: pets }), anyCuts, property), { numRuns: 300 })
})
