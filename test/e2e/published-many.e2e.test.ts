import { expect, it, vi } from 'vitest'
import { describeWithBrokers } from '../brokers/describe.ts'
import { Client, createMany, type Pet } from './client.ts'
import { expectAllPublished, expectTold, historiesOf, patience, publishedOf } from './published-topic.ts'
import { brokerEnvironment, petstoreOutput, placeOf, startService, untilParked } from './service.ts'
import { petChanged, petCreated, produce, storedCount } from './topic.ts'

const firstId = 6_000_000
const streams = 500
const behind = 5000

const petOf = (n: number): Pet => ({ id: firstId + n, name: `pet ${n}`, categoryId: 1, status: 'available' })

describeWithBrokers('much of what is published', (brokers) => {
  it('in 256 partitions', async () => {
    const environment = { ...brokerEnvironment(brokers), KAFKA_PARTITIONS: '256' }
    const client = new Client(await startService(environment))
    await createMany(client, 300)
    await expectAllPublished(environment, client)
  })

  it('waits behind parked events, in many streams and in one of them, and is told once they are discarded', async () => {
    const environment = brokerEnvironment(brokers)
    const client = new Client(await startService(environment))
    const created = Array.from({ length: streams }, (_, n) => petOf(n)).flatMap((pet) => [
      petCreated({ eventId: `first ${pet.id}`, pet, streamversion: 1 }),
      petCreated({ eventId: `usurper ${pet.id}`, pet, streamversion: 2 }),
    ])
    await produce(environment, created)
    const long = petOf(0)
    const changes = Array.from({ length: behind }, (_, n) =>
      petChanged({ pet: { ...long, name: `name ${n}` }, streamversion: n + 3 }),
    )
    for (let at = 0; at < behind; at += 1000) await produce(environment, changes.slice(at, at + 1000))
    const parked = await untilParked(environment, streams + behind)
    await vi.waitFor(
      async () => expect(await storedCount(publishedOf(environment))).toBeGreaterThanOrEqual(streams),
      patience,
    )
    const first = parked.find(({ stream, value }) => stream === String(long.id) && value.includes('usurper'))
    if (first === undefined) throw new Error('it is not parked')
    await petstoreOutput(environment, 'parked', 'discard', placeOf(first), '--yes')
    await untilParked(environment, streams - 1)
    await expectTold(environment, async () => {
      const ids = Array.from({ length: streams }, (_, n) => firstId + n)
      return await historiesOf(client, ids)
    })
  })

  it('is long', async () => {
    const environment = brokerEnvironment(brokers)
    const client = new Client(await startService(environment))
    const records = Array.from({ length: 1000 }, (_, n) => {
      const { key, value } = petCreated({ eventId: `long ${n}`, pet: petOf(n), streamversion: 1 })
      return { key, value: value.replace(/\}$/, `,"note":"${'x'.repeat(15_500)}"}`) }
    })
    await produce(environment, records)
    await vi.waitFor(async () => expect(await client.list()).toHaveLength(1000), patience)
    await expectAllPublished(environment, client)
  })
})
