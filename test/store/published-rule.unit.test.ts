import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { orderStatuses } from '../../src/store/order.ts'
import { petStatuses } from '../../src/store/pet.ts'
import { anyLog, type Consumer, type Words } from '../engine/projector/any-log.ts'
import { documentsOf, everything, openProjection, parkedIn } from '../engine/projector/projecting.ts'
import { type AnyRecord, foreignRecord } from '../engine/projector/records.ts'
import { historiesOf } from '../engine/read-models/recorded/histories.ts'
import { eventSchemas, petstore } from './petstore.ts'
import { ofStore } from './recorded-sequences.ts'
import {
  categoryAdded,
  categoryChanged,
  categoryRemoved,
  discard,
  newerEvent,
  orderEvent,
  petChanged,
  petCreated,
  petRemoved,
} from './records.ts'
import { ReferenceConsumer } from './reference-consumer.ts'

const types = ['OrderPlaced', 'OrderApproved', 'OrderDelivered', 'OrderCancelled'] as const

/** Streams of both kinds, of which some have one id. */
const idOfCategory = (thing: number) => (thing > 2 ? thing - 2 : undefined)
const named = (stream: string) => {
  const category = idOfCategory(Number(stream))
  return category === undefined ? stream : `categories/${category}`
}

const words: Words = {
  added({ id, name }, context) {
    const category = idOfCategory(id)
    return category === undefined ? petCreated({ id, name }, context) : categoryAdded({ id: category, name }, context)
  },
  changed(type, id, change, context) {
    const category = idOfCategory(id)
    if (category !== undefined) return categoryChanged({ id: category, description: `change ${change}` }, context)
    return orderEvent(types[type] ?? 'OrderPlaced', id, change, context.version, context)
  },
  renamed({ isFree, id, name }, context) {
    const category = idOfCategory(id)
    if (category !== undefined) return categoryChanged({ id: category, name }, context)
    return petChanged({ id, name, categoryId: -2, status: isFree ? 'available' : 'pending' }, context)
  },
  removed(id, context) {
    const category = idOfCategory(id)
    return category === undefined ? petRemoved(id, context) : categoryRemoved(category, context)
  },
  newer: (stream, version, attributes) => newerEvent(named(stream), version, attributes),
  discard: (stream, offset) => discard(named(stream), offset),
  newConsumer: () => new Follower(),
}

class Follower extends ReferenceConsumer implements Consumer {
  override versionOf(stream: string): number {
    return super.versionOf(named(stream))
  }

  isFree(id: number): boolean | undefined {
    const category = idOfCategory(id)
    if (category !== undefined) return this.categories[category] && true
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
  expect(documentsOf(found, 'categories')).toEqual(consumer.categories)
}

it('a consumer that knows only the published rule comes to the same pets, orders and categories', async () => {
  const anyCuts = fc.array(fc.integer({ min: 1, max: 39 }), { maxLength: 10 })
  const property = fc.asyncProperty(anyLog({ isSound: true, words }), anyCuts, comeToTheSame)
  await fc.assert(property, { numRuns: 300 })
})

describe('what a record uses up that is of no stream', () => {
  const underKey = { idempotency: { key: 'k', fingerprint: '' } }
  const data = { id: 7, name: 'Dogs' }
  const bare = { id: 'one', type: 'petstore.CategoryAdded.v1', source: '/elsewhere', idempotencykey: 'k', data }
  const later = [categoryAdded({ id: 7 }, underKey), categoryChanged({ id: 7 }, { version: 2 })]

  it.each(['categories/007', 'categories/', 'categories/7.0', 'pets/7', 'pets/x', 'categories/x'])(
    'is nothing, to the published rule too: %s',
    (subject) => comeToTheSame([foreignRecord({ ...bare, subject, streamversion: 1 }), ...later]),
  )

  it.each(['orders/1', 'other/1', '007', 'x/y'])('but its key where it may be of a later release: %s', (subject) =>
    comeToTheSame([foreignRecord({ ...bare, subject, streamversion: 1 }), ...later]),
  )

  it('of a category is nothing where it has no version, as a pet of an early release has none', () =>
    comeToTheSame([foreignRecord({ ...bare, type: 'petstore.PetCreated.v1', subject: 'categories/7' }), ...later]))
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
