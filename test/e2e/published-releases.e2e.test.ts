import { expect, it, vi } from 'vitest'
import { describeWithBrokers } from '../brokers/describe.ts'
import { Client, createMany } from './client.ts'
import { byStream, expectPublished, idsOf, patience, publishedOf, untilPublishing } from './published-topic.ts'
import { brokerEnvironment, startService, stop, untilParked } from './service.ts'
import { petChanged, produce, readTopic } from './topic.ts'

const earlier = new URL('./earlier-release.ts', import.meta.url).href

describeWithBrokers('an event that not every release knows', (brokers) => {
  it('is told by the release that knows it, whatever another one parks before, beside it and after', async () => {
    const environment = brokerEnvironment(brokers)
    const earlierEnvironment = { ...environment, NODE_OPTIONS: `--import=${earlier}` }
    const old = await startService(earlierEnvironment)
    const pets = await createMany(new Client(old), 24)
    const plain = pets.slice(0, 12)
    const described = plain.map((pet) => ({ ...pet, description: 'likes children' }))
    /** What only one of the releases knows, and what both know behind it. */
    async function change(version: number): Promise<void> {
      await produce(
        environment,
        described.map((pet) => petChanged({ pet, streamversion: version, typeVersion: 2 })),
      )
      await produce(
        environment,
        plain.map((pet) => petChanged({ pet: { ...pet, name: 'both' }, streamversion: version + 1 })),
      )
    }
    const untilShown = (client: Client, version: number) =>
      vi.waitFor(async () => {
        for (const { id } of described) {
          const history = (await client.request(`/v1/pets/${id}/events?limit=100`)).body
          expect((history as object[]).at(-1)).toMatchObject({ streamversion: version })
        }
      }, patience)
    await change(2)
    await untilParked(earlierEnvironment, 24)
    await expectPublished(environment, new Client(old), idsOf(pets))

    const next = await startService(environment)
    await untilShown(new Client(next), 3)
    await change(4)
    pets.push(...(await createMany(new Client(next), 24)))
    await stop(old)
    await expectPublished(environment, new Client(next), idsOf(pets))

    const oldAgain = await startService(earlierEnvironment)
    await stop(next)
    await untilPublishing(oldAgain)
    await change(6)
    const more = await createMany(new Client(oldAgain), 24)
    pets.push(...more)
    const told = async () => Object.keys(byStream(await readTopic(publishedOf(environment))))
    await vi.waitFor(
      async () => expect(await told()).toEqual(expect.arrayContaining(idsOf(more).map(String))),
      patience,
    )
    await stop(oldAgain)
    const oldOnceMore = await startService(earlierEnvironment) // which finds what the one before left
    await untilPublishing(oldOnceMore)
    const nextAgain = await startService(environment)
    await untilShown(new Client(nextAgain), 7)
    await stop(oldOnceMore)
    await change(8)
    await untilShown(new Client(nextAgain), 9)
    await expectPublished(environment, new Client(nextAgain), idsOf(pets))
  })
})
