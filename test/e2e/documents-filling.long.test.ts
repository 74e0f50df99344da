import { expect, it } from 'vitest'
import { describeWithLocalBrokers } from '../brokers/describe.ts'
import type { Kind } from '../brokers/held-requests.ts'
import { askRedis } from '../brokers/ready.ts'
import { shared } from '../lib/when-done.ts'
import { Client, createMany, inParallel, type Pet } from './client.ts'
import { expectTables, untilFilled } from './document-topics.ts'
import { startHeldBrokers, type Way } from './held-kafka.ts'
import {
  type brokerEnvironment,
  type ParkedEvent,
  petstoreJson,
  petstoreOutput,
  placeOf,
  type ServiceProcess,
  startService,
  untilParked,
} from './service.ts'
import { petChanged, petCreated, produce, type Topic } from './topic.ts'

const produceDocuments: Kind = { apiKey: 0, about: '.documents.' }
const idsOf = (found: readonly { readonly id: number }[]) => found.map(({ id }) => id)

async function stop(service: ServiceProcess): Promise<void> {
  expect(await service.end('SIGTERM'), service.output()).toBe(0)
}

/** Each is parked, and so is a change behind it. */
async function park(topic: Topic, pets: readonly Pet[]): Promise<void> {
  const events = pets.flatMap((pet) => [
    petCreated({ eventId: `usurper ${pet.id}`, pet, streamversion: 2 }),
    petChanged({ pet: { ...pet, name: `behind ${pet.id}` }, streamversion: 3 }),
  ])
  await produce(topic, events)
}

/** Pets, some of which are ordered, removed, or parked. */
async function startWithPets(environment: ReturnType<typeof brokerEnvironment>) {
  const service = await startService({ ...environment, PUBLISH: 'events' })
  const client = new Client(service)
  const pets = await inParallel(36, 8, (i) => client.create(`pet ${i}`))
  const orders = await inParallel(12, 8, (i) => client.order(pets[i]?.id ?? 0))
  for (const { id } of orders.slice(0, 4)) await client.update(id, 'cancelled')
  for (const { id } of pets.slice(12, 16)) await client.remove(id)
  await park(environment, pets.slice(16, 28))
  await untilParked(environment, 24)
  return { service, client, pets, known: { pets: idsOf(pets), orders: idsOf(orders) } }
}

describeWithLocalBrokers('the first filling of the topics of documents', (): void => {
  const started = shared(() => startHeldBrokers(1))

  it('has all that was there before, and what changes while it runs', async () => {
    const { ways, newEnvironment, redis } = started()
    const way = ways[0] as Way
    const environment = newEnvironment()
    const { service, client, pets, known } = await startWithPets(environment)
    const discard = async (from: number, to: number) => {
      const streams = pets.slice(from, to).map(({ id }) => String(id))
      const parked: ParkedEvent[] = await petstoreJson(environment, 'parked', 'list')
      for (const stream of streams) {
        const first = parked.find((each) => each.stream === stream)
        if (first !== undefined) await petstoreOutput(environment, 'parked', 'discard', placeOf(first), '--yes')
      }
    }
    await discard(16, 20)

    const { arrived, release } = way.hold('request', produceDocuments)
    const projector = { ...environment, ROLE: 'projector', KAFKA_BROKERS: way.brokers, PUBLISH: 'documents' }
    const filling = await startService(projector)
    await arrived
    await discard(20, 24)
    await client.remove(pets[30]?.id ?? 0)
    const [open = 0, cancelled = 0] = known.orders.slice(8)
    await client.update(open, 'approved')
    await client.update(open, 'delivered')
    await client.update(cancelled, 'cancelled')
    const next = await client.order(pets[9]?.id ?? 0)
    const more = await createMany(client, 6)
    await askRedis(redis.url, (admin) => admin.flushall())
    await petstoreOutput(environment, 'rebuild')
    release()
    const all = { pets: [...known.pets, ...idsOf(more)], orders: [...known.orders, next.id] }
    await expectTables(environment, client, all)
    await untilFilled(environment)
    await discard(24, 28)
    await untilParked(environment, 0)
    await expectTables(environment, client, all)
    await stop(filling)
    await stop(service)
  })
})
