import { it } from 'vitest'
import { describeWithBrokers } from '../brokers/describe.ts'
import { Client, createMany } from './client.ts'
import { expectPublished, idsOf } from './published-topic.ts'
import { brokerEnvironment, startService } from './service.ts'

describeWithBrokers('the published topic', (brokers) => {
  it('tells each event that took effect, once, in the order of its stream', async () => {
    const environment = brokerEnvironment(brokers)
    const service = await startService(environment)
    const client = new Client(service)
    const pets = await createMany(client, 50)
    for (const { id } of pets.slice(0, 10)) {
      if ((await client.place(id)).status !== 201) await client.change(id, { name: `changed ${id}` })
    }
    await expectPublished(environment, client, idsOf(pets))
  })
})
