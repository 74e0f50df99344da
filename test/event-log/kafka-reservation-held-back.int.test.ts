import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import type { KafkaBroker } from '../brokers/brokers.ts'
import { describeWithLocalBrokers } from '../brokers/describe.ts'
import { startKafka } from '../brokers/processes.ts'
import { startProxy, type TcpProxy } from '../brokers/proxy.ts'
import { freePort } from '../brokers/ready.ts'
import { logOptions, openKafkaLog, withAdmin } from './kafka-fixture.ts'

const produceApiKey = 0 // Kafka protocol, API keys

describeWithLocalBrokers('a reservation on its way to a log that is made anew', () => {
  let broker: KafkaBroker
  let proxy: TcpProxy
  beforeAll(async () => {
    const [proxyPort, port] = [await freePort(), await freePort()]
    proxy = await startProxy({ port: proxyPort, target: port, isKafka: true })
    broker = await startKafka({ config: { 'advertised.listeners': `PLAINTEXT://127.0.0.1:${proxyPort}` } }, { port })
  })
  afterAll(async () => {
    await broker?.remove()
    await proxy?.close()
  })

  it('takes no block there, although its look at the log came before', async () => {
    const options = logOptions(broker.brokers)
    const log = await openKafkaLog(options)
    const idBlocks = `${options.topic}.id-blocks`
    const held = proxy.hold(produceApiKey)
    const reservation = expect(log.reserveIdBlock()).rejects.toMatchObject({ code: 'event_log_unavailable' })
    await held.arrived
    await withAdmin(broker.brokers, async (admin) => {
      await admin.deleteTopics({ topics: [idBlocks] })
      const create = () => admin.createTopics({ topics: [{ topic: idBlocks, numPartitions: 1 }] })
      await vi.waitFor(async () => expect(await create()).toBe(true), { timeout: 10_000, interval: 20 })
      held.release()
      await reservation
      await log.replaced
      expect(await admin.fetchTopicOffsets(idBlocks)).toMatchObject([{ high: '1' }]) // it did arrive there
    })
  })
})
