import { readdirSync, readFileSync } from 'node:fs'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { kindOrFirst } from '../../src/engine/definition/kinds.ts'
import { parseExactJson } from '../../src/engine/lib/values/exact-json.ts'
import { compileCheck } from '../../src/engine/lib/values/validation.ts'
import { readCloudEvent } from '../../src/engine/log/record-codec.ts'
import { type CategoryId, toCategory } from '../../src/store/category.ts'
import type { OrderEvent, PetEvent } from '../../src/store/events.ts'
import type { OrderId } from '../../src/store/order.ts'
import { type Pet, type PetId, petDocument } from '../../src/store/pet.ts'
import { project } from '../engine/projector/projecting.ts'
import { keyed } from '../engine/projector/records.ts'
import { anyPet } from './any-pet.ts'
import { encodeEvent, petstore, type StoreEvent, schemaOf } from './petstore.ts'
import { orderEvent, petCreated } from './records.ts'

const folder = new URL('../../docs/events/', import.meta.url)
const published = (name: string) => readFileSync(new URL(`petstore.${name}.example.json`, folder), 'utf8').trim()

function read(value: string) {
  const event = readCloudEvent(Buffer.from(value), petstore.events.quick)
  if (event === undefined) throw new Error('no event')
  const { events } = kindOrFirst(petstore, event.subject ?? '')
  return { event, decoded: events.decode(event), version: events.streamVersion(event) }
}

const rex: Pet = { id: 42 as PetId, name: 'Rex "the 🐕"', categoryId: 9007199254740993n, status: 'pending' }
const max: Pet = { ...rex, name: 'Rex "der 🐕"', status: 'available' }
const described: Pet = { ...rex, status: 'available', description: 'Likes "children" 🐕' }
const zoe: Pet = { id: 43 as PetId, name: 'Zoë', categoryId: 7, status: 'available' }
const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'
const idempotency = { key: 'fA9kMvEKy4cPhm28OpKWPk', fingerprint: 'QqOmAROuUhSt5iffvUIijM' }

const created = (pet: Pet): PetEvent => ({ type: 'PetCreated', pet })
const ordered = (type: OrderEvent['type']): PetEvent => ({ type, orderId: 12 as OrderId, petId: 42 as PetId })

interface Published {
  readonly event: StoreEvent
  readonly version: number
  /** What else its record has; undefined if it is not written in this way any more. */
  readonly written?: Partial<Parameters<typeof encodeEvent>[1]>
}
const dogs = toCategory(7 as CategoryId, { name: 'Dogs' })
const walking = toCategory(dogs.id, { name: 'Dogs "and" 🐕', description: 'They like "walks"' })
const changed = (pet: Pet): Published => ({ event: { type: 'PetChanged', pet }, version: 2, written: {} })

/** Every example that was ever published, and what it says. A log is kept for ever: none may become unreadable. */
const examples: Readonly<Record<string, Published>> = {
  'PetCreated.v1': { event: created(rex), version: 1 },
  'PetCreated.v1.idempotent': { event: created(zoe), version: 1 },
  'PetCreated.v1.versioned': { event: created({ ...rex, status: 'available' }), version: 1, written: { traceparent } },
  'PetCreated.v2': { event: created(described), version: 1, written: { traceparent } },
  'PetChanged.v2': changed({ ...described, name: max.name }),
  'PetChanged.v1': changed(max),
  'PetRemoved.v1': { event: { type: 'PetRemoved', petId: rex.id }, version: 3, written: {} },
  'OrderPlaced.v1': { event: ordered('OrderPlaced'), version: 2, written: { traceparent, idempotency } },
  'OrderApproved.v1': { event: ordered('OrderApproved'), version: 3, written: {} },
  'OrderCancelled.v1': { event: ordered('OrderCancelled'), version: 3, written: {} },
  'CategoryAdded.v1': { event: { type: 'CategoryAdded', ...dogs }, version: 1, written: { traceparent, idempotency } },
  'CategoryChanged.v1': { event: { type: 'CategoryChanged', ...walking }, version: 2, written: {} },
  'CategoryRemoved.v1': { event: { type: 'CategoryRemoved', categoryId: dogs.id }, version: 3, written: {} },
  'OrderDelivered.v1': { event: ordered('OrderDelivered'), version: 4, written: {} },
}
const discard = 'EventDiscarded.v1'
const several = 'Several.v1'
const bothEvents = [
  created({ id: 42 as PetId, name: 'Rex', categoryId: 7, status: 'available' }),
  ordered('OrderPlaced'),
]

describe('published events', () => {
  it('are those of the table', () => {
    const found = readdirSync(folder).filter((name) => name.endsWith('.example.json'))
    expect(found.map((name) => name.split('.').slice(1, -2).join('.')).sort()).toEqual(
      [...Object.keys(examples), discard, several].sort(),
    )
  })

  it.each([...Object.keys(examples), discard])('%s is read as it was published, and fits its schema', (name) => {
    const { decoded, version, event } = read(published(name))
    const says = examples[name]
    if (says === undefined) expect(decoded).toEqual({ outcome: 'discard', offset: 1234 })
    else expect([decoded, version]).toMatchObject([{ outcome: 'events', events: [says.event] }, says.version])
    expect(compileCheck(schemaOf(event.type))(parseExactJson(published(name)))).toBeUndefined()
  })

  const written = Object.entries(examples).filter(([, says]) => says.written !== undefined)
  it.each(written)('%s is written as it was published', (name, { event, version, written }) => {
    const eventId = `019e0000-0000-7000-8000-00000000010${version}`
    const context = { eventId, version, time: `2026-11-22T12:0${version}:00.000Z`, ...written }
    const headers = { 'content-type': 'application/cloudevents+json' }
    const key = name.startsWith('Category') ? 'categories/7' : '42'
    expect(encodeEvent(event, context)).toEqual({ key, value: published(name), headers })
  })

  it('several events of one request are read and written as it was published', () => {
    const { decoded, version, event } = read(published(several))
    expect([decoded, version]).toEqual([{ outcome: 'events', events: bothEvents }, 1])
    expect(compileCheck(schemaOf(event.type))(parseExactJson(published(several)))).toBeUndefined()
    const context = { eventId: event.id, version: 1, time: String(event.time), stream: '42' }
    expect(petstore.events.encode(bothEvents, context).value).toBe(published(several))
  })

  it('EventDiscarded is written as it was published, but for its id', () => {
    const { key, value } = petstore.events.encodeDiscard(
      { stream: '42', offset: 1234 },
      new Date('2026-11-21T12:00:00Z'),
    )
    const withoutId = (text: string) => text.replace(/"id":"[^"]*"/, '')
    expect([key, withoutId(value)]).toEqual(['42', withoutId(published(discard))])
  })
})

it('any pet is given back exactly, in a record that fits the schema', () => {
  fc.assert(
    fc.property(anyPet, (pet) => {
      const { value } = encodeEvent(created(pet), { eventId: 'e', version: 1, time: '2026-11-20T12:00:00.000Z' })
      expect(read(value).decoded).toMatchObject({ outcome: 'events', events: [created(pet)] })
      const type = `petstore.PetCreated.v${pet.description === undefined ? 1 : 2}`
      expect(compileCheck(schemaOf(type))(parseExactJson(value))).toBeUndefined()
      expect(value).toContain(`"type":"${type}"`)
      expect(value).toContain(petDocument(pet))
    }),
  )
})

it('what an event says is what its schema accepts, whatever members it has', () => {
  const { value } = encodeEvent(created(zoe), { eventId: 'e', version: 1, time: '2026-11-20T12:00:00.000Z' })
  const forged = JSON.stringify({ ...JSON.parse(value), data: {}, quick: created(zoe), event: created(zoe) })
  expect(read(forged).decoded).toMatchObject({ outcome: 'unreadable' })
})

it('what is decided under a key has the id of what was created', async () => {
  const records = [petCreated({ id: 5 }, keyed('pet')), orderEvent('OrderPlaced', 5, 12, 2, keyed('order'))]
  const { keys } = await (await project(records, [], petstore)).read()
  expect(keys.map(({ key, id }) => [key, id]).sort()).toEqual([
    ['order', 12],
    ['pet', 5],
  ])
})
