import { Ajv2020 } from 'ajv/dist/2020.js'
import { expect, it, vi } from 'vitest'
import type { asyncApiDocument } from '../../src/engine/definition/asyncapi.ts'
import { describeWithBrokers } from '../brokers/describe.ts'
import { settingsOf, type TopicRecord } from '../brokers/topics.ts'
import { Client } from './client.ts'
import { type PrintedRecord, printedRecords } from './document-topics.ts'
import { brokerEnvironment, startService } from './service.ts'
import { readTopic } from './topic.ts'

const patience = { timeout: 60_000, interval: 250 }
type Described = ReturnType<typeof asyncApiDocument>

describeWithBrokers('topics of documents', (brokers) => {
  it('are as /asyncapi.json says: what GET shows, and null where it is 404', async () => {
    const environment = brokerEnvironment(brokers)
    const client = new Client(await startService(environment))
    const { id, name } = await client.create('told')
    const removed = await client.create('removed')
    const order = await client.order(id)
    expect((await client.remove(removed.id)).status).toBe(204)
    const shown = {
      pets: { [id]: (await client.get(id)).text, [removed.id]: null },
      orders: { [order.id]: (await client.getOrder(order.id)).text },
    }
    expect(shown.pets[id]).toContain(name)
    const described = (await client.request('/asyncapi.json')).body as Described
    for (const [collection, documents] of Object.entries(shown)) {
      const channel = described.channels[`documents.${collection}`] ?? expect.fail(collection)
      const topic = { ...environment, KAFKA_TOPIC: String(channel.address) }
      await vi.waitFor(async () => expect(lastValues(await readTopic(topic))).toEqual(documents), patience)
      for (const record of await printedRecords(topic)) expectDescribed(record, channel, described)
      const settings = Object.entries(channel.bindings.kafka.topicConfiguration)
      const wanted = Object.fromEntries(settings.map(([setting, value]) => [setting, String(value)]))
      expect(await settingsOf(environment.KAFKA_BROKERS, topic.KAFKA_TOPIC, Object.keys(wanted))).toEqual(wanted)
    }
  })
})

function lastValues(records: readonly TopicRecord[]) {
  return Object.fromEntries(records.map(({ key, value }) => [String(key), value && String(value)]))
}

function expectDescribed(
  { key, headers, payload }: PrintedRecord,
  { messages }: Described['channels'][string],
  { components }: Described,
): void {
  const { $ref } = messages[payload === null ? 'tombstone' : 'document'] ?? expect.fail('no such message')
  const message = components.messages[$ref.split('/').at(-1) ?? ''] ?? expect.fail($ref)
  expect(key).toMatch(new RegExp(message.bindings.kafka.key.pattern))
  const properties = { payload: message.payload, headers: message.headers }
  const check = new Ajv2020({ strict: false, validateFormats: false }).compile({ properties, components })
  expect([check({ payload, headers }), check.errors]).toEqual([true, null])
}
