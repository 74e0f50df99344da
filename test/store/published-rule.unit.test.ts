import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { orderStatuses } from '../../src/store/order.ts'
import { petStatuses } from '../../src/store/pet.ts'
import { anyLog, type Consumer, type Words } from '../engine/projector/any-log.ts'
import { documentsOf, everything, openProjection, parkedIn } from '../engine/projector/projecting.ts'
import type { AnyRecord } from '../engine/projector/records.ts'
import { historiesOf } from '../engine/read-models/recorded/histories.ts'
import { eventSchemas, petstore } from './petstore.ts'
import { ofStore } from './recorded-sequences.ts'
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

const read = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8')
/** Each example of an event, after those that lead to it. */
const examples = [...historiesOf(petstore, ofStore.more)].filter(([name]) => !name.startsWith('('))

async function comeToTheSame(log: readonly AnyRecord[], cuts: number[] = []): Promise<void> {
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

it('a consumer that knows only the published rule comes to the same pets and orders', async () => {
  const anyCuts = fc.array(fc.integer({ min: 1, max: 39 }), { maxLength: 10 })
  const property = fc.asyncProperty(anyLog({ isSound: true, words: pets }), anyCuts, comeToTheSame)
  await fc.assert(property, { numRuns: 300 })
})

// A new event, version, member or status: whoever reads the journal has to learn it, or misses it in silence.
describe('whatever can happen is known', () => {
  it.each(examples)('to the published rule: %s', (_, log) => comeToTheSame(log))

  const types = Object.keys(eventSchemas)

  it.each(types)('to docs/events.md: %s', (type) => {
    expect(read('docs/events.md')).toContain(`\n| \`${type}\` |`)
    expect(read('docs/events.md')).toContain(`(events/${type}.example.json)`)
  })

  it.each([
    ['pet', petStatuses],
    ['order', orderStatuses],
  ])('with each status of a %s, to docs/glossary.md', (noun, statuses) => {
    const [row = ''] = RegExp(`^\\| \\*\\*${noun}\\*\\* .*`, 'm').exec(read('docs/glossary.md')) ?? []
    const missing = statuses.filter((status) => !row.includes(`\`${status}\``))
    expect(missing).toEqual([])
  })
})
