import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import type { KafkaBroker } from '../brokers/brokers.ts'
import { describeWithLocalBrokers } from '../brokers/describe.ts'
import { heldRequests } from '../brokers/held-requests.ts'
import { Link } from '../brokers/link.ts'
import { startKafka } from '../brokers/processes.ts'
import { freePort } from '../brokers/ready.ts'
import { logOptions, openKafkaLog, withAdmin } from './kafka-fixture.ts'

const produceApiKey = 0 // Kafka protocol, API keys

describeWithLocalBrokers('a reservation on its way to a log that is made anew', () => {
  let broker: KafkaBroker
  let link: Link
  const { pass, hold } = heldRequests()
  beforeAll(async () => {
    const port = await freePort()
    link = await Link.to(port, pass)
    broker = await startKafka({ config: { 'advertised.listeners': `PLAINTEXT://127.0.0.1:${link.port}` } }, { port })
  })
  afterAll(async () => {
    await broker?.remove()
    await link?.close()
  })

  it('takes no block there, although its look at the log came before', async () => {
    const options = logOptions(broker.brokers)
    const log = await openKafkaLog(options)
    const idBlocks = `${options.topic}.id-blocks`
    const held = hold(produceApiKey)
    const reservation = expect(log.reserveIdBlock()).rejects.toMatchObject({ code: 'event_log_unavailable' })
    await held.arrived
    await withAdmin(broker.brokers, async (admin) => {
      await admin.deleteTopics({ topics: [idBlocks] })
      const patience = { timeout: 10_000, interval: 20 }
      const topics = [{ topic: idBlocks, numPartitions: 1 }]
      const create = () => admin.createTopics({ topics, waitForLeaders: false }) // kafkajs may throw while it waits
      await vi.waitFor(async () => expect(await create()).toBe(true), patience)
      await vi.waitFor(() => admin.fetchTopicOffsets(idBlocks), patience)
      held.release()
      await reservation
      await log.replaced
      expect(await admin.fetchTopicOffsets(idBlocks)).toMatchObject([{ high: '1' }]) // it did arrive there
    })
  })
})
