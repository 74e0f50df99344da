import { isDeepStrictEqual } from 'node:util'
import { expect, it, onTestFinished, vi } from 'vitest'
import { startRedis } from '../brokers/brokers.ts'
import { startKafkaCluster } from '../brokers/clusters.ts'
import { describeWithLocalBrokers } from '../brokers/describe.ts'
import { heldRequests } from '../brokers/held-requests.ts'
import { Link, type Pass } from '../brokers/link.ts'
import { inSync, makeLossyTopics } from '../campaign/faults/loss-faults.ts'
import type { Exchange } from '../judge/history.ts'
import { byId, Client, createMany, inParallel, type Pet, untilServed } from './client.ts'
import { Load, reading } from './load.ts'
import { brokerEnvironment, expectVerified, startService } from './service.ts'
import { readPets } from './topic.ts'

const patience = { timeout: 60_000, interval: 50 }
const fetchApiKey = 1 // Kafka protocol, API keys

describeWithLocalBrokers('a leader that takes over without the last events', () => {
  it('and takes others in their place: the read models are those of the log, and no pet that is in it was missed', async () => {
    const redis = await startRedis()
    const { pass, hold } = heldRequests()
    const cluster = await startCluster(pass)
    onTestFinished(async () => void (await Promise.all([cluster.remove(), redis.remove()])))
    const environment = brokerEnvironment({ kafkaBrokers: cluster.brokers, redisUrl: redis.url })
    const { KAFKA_TOPIC: topic } = environment
    await makeLossyTopics(cluster, topic)
    const client = new Client(await startService(environment))
    const kept = await createMany(client, 60)
    const [leader, follower] = cluster.nodes

    await follower?.pause()
    await vi.waitFor(async () => expect(await inSync(cluster, topic)).toEqual([1]), patience)
    const lost = await createMany(client, 100)
    await untilServed(client, [...kept, ...lost])
    const readers = new Load([client], 3, reading(kept))
    const held = hold(fetchApiKey) // so that there are others before the projector asks for what follows
    await leader?.kill()
    await follower?.resume()
    const rest = await inParallel(300, 16, (i) => added(client, `after ${i}`))
    held.release()

    await vi.waitFor(async () => expect(await inSync(cluster, topic)).toEqual([2]), patience)
    const stored = await readPets(environment)
    expect(stored).toEqual(expect.arrayContaining([...kept, ...rest]))
    expect(stored.filter(({ id }) => lost.some((pet) => pet.id === id))).toEqual([])
    await vi.waitFor(async () => expect(await client.list()).toEqual(byId(stored)), patience)
    await readers.stop()
    expect(readers.told.filter((answer) => lacksOneOf(kept, answer))).toEqual([])
    await expectVerified(environment)
  })
})

/** What is sent to node 2 goes through `pass`. A broker that is gone, or back, is noticed soon. */
async function startCluster(pass: Pass) {
  const link = await Link.to(0, pass)
  onTestFinished(() => link.close())
  const soon = { 'broker.session.timeout.ms': '3000', 'broker.heartbeat.interval.ms': '500' }
  return await startKafkaCluster((port, id) => {
    if (id !== 2) return soon
    link.turnTo(port)
    return { ...soon, 'advertised.listeners': `PLAINTEXT://127.0.0.1:${link.port}` }
  })
}

/** Whether it is none of these, or a page that leaves one out: pets added meanwhile may stand between them. */
function lacksOneOf(pets: readonly Pet[], { operation, status, body, page }: Exchange): boolean {
  if (status === 503) return false
  if (operation === 'getPet') return !pets.some((pet) => isDeepStrictEqual(pet, body))
  const found = body as readonly Pet[]
  const last = found.length === page?.limit ? (found.at(-1)?.id ?? 0) : Number.POSITIVE_INFINITY
  const listed = pets.filter((pet) => pet.id <= last && (page?.status ?? pet.status) === pet.status)
  return listed.some(({ id }) => !found.some((pet) => pet.id === id))
}

/** A pet that was answered 201, however often it had to be asked for. */
async function added(client: Client, name: string): Promise<Pet> {
  const answer = await vi.waitFor(async () => {
    const each = await client.post({ name, categoryId: 1 }, { prefer: 'wait=0' })
    expect(each.status, each.text).toBe(201)
    return each
  }, patience)
  return answer.body as Pet
}
