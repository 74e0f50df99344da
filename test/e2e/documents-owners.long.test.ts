import { it } from 'vitest'
import { describeWithLocalBrokers } from '../brokers/describe.ts'
import type { Kept, Kind } from '../brokers/held-requests.ts'
import { deleteTopics } from '../brokers/topics.ts'
import { shared } from '../lib/when-done.ts'
import { Client, createMany, inParallel } from './client.ts'
import { documentTopicOf, expectTables } from './document-topics.ts'
import { startHeldBrokers, type Way } from './held-kafka.ts'
import { startService } from './service.ts'

const endTransaction: Kind = { apiKey: 26, about: '.documents-' }
/** The requests of a transaction of a filling, in their order. */
const steps: readonly Kind[] = [
  { apiKey: 22, about: '.documents-' },
  { apiKey: 24, about: '.positions' },
  { apiKey: 0, about: '.positions' },
  { apiKey: 24, about: '.documents.' },
  { apiKey: 0, about: '.documents.' },
]
/** How many transactions of all lanes end before the one in which the owner is killed. */
const before = [0, 2, 6]
const points = [...steps.map((kind) => [kind, 0] as const), ...before.map((count) => [endTransaction, count] as const)]

describeWithLocalBrokers('who fills the topics of documents', () => {
  const started = shared(() => startHeldBrokers(2))

  it('may be killed at each step of it', async () => {
    const { kafka, ways, newEnvironment } = started()
    async function killedAtEach(kept: Kept, way: Way): Promise<void> {
      const environment = newEnvironment()
      const client = new Client(await startService({ ...environment, PUBLISH: 'none' }))
      const pets = (await inParallel(24, 8, (i) => client.create(`pet ${i}`))).map(({ id }) => id)
      const orders = (await inParallel(6, 6, (i) => client.order(pets[i] ?? 0))).map(({ id }) => id)
      for (const id of pets.slice(6, 12)) await client.remove(id)
      const filling = { ...environment, KAFKA_BROKERS: way.brokers, ROLE: 'projector', PUBLISH: 'documents' }
      for (const [kind, count] of points) {
        let hold = way.hold(kept, kind)
        const victim = await startService(filling)
        for (let ended = 0; ended < count; ended++) {
          await hold.arrived
          const { release } = hold
          hold = way.hold(kept, kind)
          release()
        }
        await hold.arrived
        await victim.end('SIGKILL')
        hold.release()
        pets.push(...(await createMany(client, 2)).map(({ id }) => id))
        const next = await startService(filling)
        await expectTables(environment, client, { pets, orders })
        await next.end('SIGTERM')
        const topics = ['pets', 'orders'].map((each) => documentTopicOf(environment, each).KAFKA_TOPIC)
        await deleteTopics(kafka.brokers, ...topics)
      }
    }
    const [first, other] = ways as [Way, Way]
    await Promise.all([killedAtEach('request', first), killedAtEach('answer', other)])
  })
})
