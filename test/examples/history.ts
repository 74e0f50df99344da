import { randomUUID } from 'node:crypto'
import { expect, vi } from 'vitest'
import { partitionOf } from '../../src/engine/log/kafka/default-partitioner.ts'
import type { NewMessage } from '../brokers/topics.ts'
import { type Client, inParallel, keyed, type Pet } from '../e2e/client.ts'
import { type Environment, type ParkedEvent, placeOf } from '../e2e/service.ts'
import { petCreated, produce, readTopic, type Topic } from '../e2e/topic.ts'
import { eventRecord } from '../lib/event-record.ts'
import { runHere } from '../store/run-here.ts'

const partitions = 6
export const largest = '9223372036854775807'

/** Pets whose id the default partitioner sends to the partition, other ones each time. */
let lastForeignId = 5_000_000
function foreignId(partition: number): number {
  do lastForeignId++
  while (partitionOf(String(lastForeignId), partitions) !== partition)
  return lastForeignId
}

function foreign(partition: number, over: Partial<Pet> = {}): Pet {
  return { id: foreignId(partition), name: 'foreign', categoryId: 1, status: 'available', ...over }
}

function event(type: string, pet: number, streamversion: unknown, over: object = {}): NewMessage {
  const [id, time] = [randomUUID(), new Date().toISOString()]
  const data = { orderId: pet, petId: pet }
  return eventRecord({ id, type, source: '/v1/pets', subject: String(pet), time, streamversion, data, ...over })
}

/** A service under `sell`: programs that start beside it may take all of a small machine for seconds. */
export const patientWrites = { APPEND_TIMEOUT_MS: '30000' }

/** Pets and orders in every status, pets that change and leave, requests that come twice, and category ids of every size. */
export async function sell(client: Client, count: number): Promise<void> {
  await inParallel(count, 8, async (i) => {
    const body = `{"name":"Zoë 🐕 ${i}","categoryId":${[largest, `-${largest}`, 7][i % 3]}}`
    const key = keyed(randomUUID())
    const create = () => client.request('/v1/pets', { method: 'POST', body, headers: key })
    const [{ status, body: pet, text }] = await Promise.all([create(), create()])
    expect(status, text).toBe(201)
    const { id: petId } = pet as Pet
    const steps = [[], ['cancelled'], ['approved'], ['approved', 'delivered'], ['approved', 'delivered']][i % 5] ?? []
    if (i % 7 !== 0) {
      const { id } = await client.order(petId)
      for (const step of steps) expect((await client.update(id, step)).status).toBe(200)
    }
    if (i % 4 === 0) expect((await client.change(petId, { name: `changed ${i}` })).status).toBe(200)
    const isOrdered = i % 7 !== 0
    if (isOrdered && i % 5 > 2) return // sold
    expect((await client.remove(petId)).status).toBe(isOrdered && i % 5 !== 1 ? 409 : 204)
  })
}

/** Enough that a process is killed in the middle of them. */
export const manyPets = Array.from({ length: 1500 }, (_, i) => {
  const pet = { id: 7_000_000 + i, name: `pet ${i}`, categoryId: i % 10, status: 'sold' }
  return petCreated({ eventId: `many ${i}`, pet, streamversion: 1 })
})

/** What is no event, and what is one and takes no effect, in every partition. */
export async function disturb(topic: Topic): Promise<void> {
  const written = await readTopic(topic)
  const again = written.filter((_, i) => i % 5 === 0).map(({ key, value }) => ({ key, value }))
  const disturbances = Array.from({ length: partitions }, (_, partition) => disturbancesIn(partition))
  await produce(topic, [...again, ...disturbances.flat()])
  await duplicate(topic)
}

function disturbancesIn(partition: number): NewMessage[] {
  const { id } = foreign(partition)
  const other = foreign(partition)
  const once = { idempotencykey: `one order ${partition}` }
  const pet = petCreated({ eventId: randomUUID(), pet: foreign(partition, { id }), streamversion: 1 })
  const elsewhere = petCreated({ eventId: randomUUID(), pet: foreign((partition + 1) % partitions), streamversion: 1 })
  const created = 'petstore.PetCreated.v1'
  const data = { id, name: 'not like this', categoryId: 1, status: 'sold' }
  return [
    { partition, key: null, value: null },
    { partition, key: String(id), value: 'not JSON' },
    { partition, key: String(id), value: Buffer.from([0xff, 0xfe]) },
    { partition, key: Buffer.from([0xff]), value: pet.value.replace(String(id), '\uFFFD') },
    { partition, key: String(id), value: '[]' },
    { partition, key: String(id), value: pet.value.replace('"foreign"', 'NaN') },
    { partition, key: String(id), value: pet.value.replace('"1.0"', '"0.3"') },
    { partition, key: String(id), value: pet.value.replace('"foreign"', JSON.stringify('x'.repeat(17_000))) },
    { partition, ...elsewhere },
    { partition, key: 'another', value: pet.value },
    event('elsewhere.PetCreated.v1', id, 1, { data }),
    event('petstore.EventDiscarded.v1', id, 1, { data: { offset: 0 } }),
    ...[true, '1', null, 0, 1.5, -1].map((version) => event(created, id, version, { data })),
    event('petstore.OrderPlaced.v1', id, undefined),
    pet, // this one takes effect
    { ...pet, value: pet.value.replace('"foreign"', '"second"') },
    event('petstore.OrderPlaced.v1', id, 3), // a gap
    event('petstore.OrderPlaced.v1', id, 2, { idempotencykey: `half a pair ${partition}` }), // takes effect
    petCreated({ eventId: randomUUID(), pet: other, streamversion: 1 }),
    event('petstore.OrderPlaced.v1', other.id, 2, { data: { orderId: id, petId: other.id }, ...once }), // its id is taken
    event('petstore.OrderPlaced.v1', other.id, 2, once), // takes effect
  ]
}

/** A foreign event under the idempotency key of each of some pets, in its partition: none takes effect. */
async function duplicate(topic: Topic): Promise<void> {
  const events = (await readTopic(topic)).map(({ value }) => /"idempotencykey":"[\w-]+"/.exec(String(value)) && value)
  const keyedEvents = events.filter((value) => value !== null).slice(0, 20)
  const copies = keyedEvents.map((value) => {
    const { subject, idempotencykey } = JSON.parse(String(value))
    const pet = foreign(partitionOf(subject, partitions), { name: 'a duplicate' })
    return event('petstore.PetCreated.v1', pet.id, 1, { data: pet, idempotencykey })
  })
  expect(copies.length).toBeGreaterThan(10)
  await produce(topic, copies)
}

/** Events that this release cannot apply, each discarded by an operator, and behind them one that takes effect. */
export async function parkAndDiscard(environment: Topic & Environment): Promise<void> {
  const pet = foreign(0, { name: 'parked for a while' })
  const order = (orderId: number) => ({ data: { orderId, petId: pet.id } })
  const messages = [
    petCreated({ eventId: randomUUID(), pet, streamversion: 1 }),
    event('petstore.PetMoved.v1', pet.id, 2), // of a newer release
    event('petstore.OrderDelivered.v1', pet.id, 3), // of no order
    event('petstore.OrderPlaced.v1', pet.id, 4, order(foreignId(1))), // of another partition
    event('petstore.OrderPlaced.v1', pet.id, 5, { time: 'yesterday' }),
    event('petstore.PetChanged.v1', pet.id, 6, { data: { ...pet, status: 'sold' } }), // no change of the status
    event('petstore.OrderPlaced.v1', pet.id, 7),
    event('petstore.PetRemoved.v1', pet.id, 8, { data: { petId: pet.id } }), // an order is open
    event('petstore.OrderApproved.v1', pet.id, 9),
  ]
  await produce(environment, messages)
  for (const left of [8, 7, 6, 5, 4, 2]) {
    const parked = async () => JSON.parse((await runHere(environment, 'parked list --json')).output) as ParkedEvent[]
    await vi.waitFor(async () => expect(await parked()).toHaveLength(left), { timeout: 60_000, interval: 50 })
    const [first] = await parked()
    const { code, errors } = await runHere(environment, `parked discard --yes ${placeOf(first as ParkedEvent)}`)
    expect(code, errors).toBe(0)
  }
}
