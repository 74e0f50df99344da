import { expect, it, vi } from 'vitest'
import { describeWithBrokers } from '../brokers/describe.ts'
import { metric } from '../lib/http-client.ts'
import { Client } from './client.ts'
import { expectTables, tableOf, untilFilled } from './document-topics.ts'
import { patience } from './published-topic.ts'
import { brokerEnvironment, startService, stop } from './service.ts'

const largeRelease = new URL('./large-release.ts', import.meta.url).href

describeWithBrokers('topics of documents', (brokers) => {
  it('go on without a document that is too large, which is counted and named', async () => {
    const environment = brokerEnvironment(brokers)
    const before = await startService(environment)
    const client = new Client(before)
    const [small, large] = [await client.create('small'), await client.create('large')]
    await expectTables(environment, client, { pets: [small.id, large.id], orders: [] })
    const told = (await tableOf(environment, 'pets')).get(large.id)?.value
    await stop(before)

    const service = await startService({ ...environment, NODE_OPTIONS: `--import=${largeRelease}` })
    await vi.waitFor(async () => {
      expect(await metric(service.url, 'petstore_documents_left_out_total')).toBeGreaterThan(0)
    }, patience)
    await untilFilled(environment)
    const after = new Client(service)
    const later = await after.create('later')
    await vi.waitFor(async () => {
      const table = await tableOf(environment, 'pets')
      for (const { id } of [small, later]) expect(String(table.get(id)?.value)).toBe((await after.get(id)).text)
      expect(table.get(large.id)?.value).toEqual(told)
    }, patience)
    expect((await after.get(large.id)).text.length).toBeGreaterThan(262_144)
    const { body } = await after.request('/readyz')
    expect(JSON.stringify(body)).toContain('document_left_out')
    expect(JSON.stringify(body)).toContain(`the last one pets ${large.id}`)
  })
})
