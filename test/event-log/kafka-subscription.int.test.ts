import type { Consumer } from 'kafkajs'
import { expect, it, onTestFinished, vi } from 'vitest'
import { KafkaClient } from '../../src/event-log/kafka/kafka-client.ts'
import { openKafkaEventLog } from '../../src/event-log/kafka/kafka-event-log.ts'
import { KafkaSubscription } from '../../src/event-log/kafka/kafka-subscription.ts'
import { describeWithBrokers } from '../brokers/describe.ts'
import { records } from './contract/fixture.ts'
import { logOptions, silent } from './kafka-fixture.ts'
import { newGroup, RecordingSubscriber } from './recording-subscriber.ts'

const patience = { timeout: 20_000, interval: 20 }

describeWithBrokers('a subscription to Kafka', ({ kafkaBrokers: brokers }) => {
  it('fetches the next batch, and no more, while one is in hand', async () => {
    const options = logOptions(brokers, { partitions: 1 })
    const log = await openKafkaEventLog(options)
    onTestFinished(() => log.close())
    const [appends, perAppend] = [8, 600]
    const long = 'x'.repeat(1500) // so that Kafka does not give more than one of these at a time
    for (let i = 0; i < appends; i++) await log.append(0, records(...Array.from({ length: perAppend }, () => long)))

    const subscriber = new RecordingSubscriber(undefined)
    let [fetched, done, mostAhead] = [0, 0, 0]
    const newClient = () =>
      watched(new KafkaClient({ ...options, logger: silent }), () => {
        fetched++
        mostAhead = Math.max(mostAhead, fetched - done)
      })
    const subscription = new KafkaSubscription({ ...options, newClient, group: newGroup(), subscriber })
    onTestFinished(() => subscription.close())
    const hold = Promise.withResolvers<void>()
    subscriber.answer = async () => {
      await hold.promise
      done++
      return true
    }
    await vi.waitFor(() => expect(subscriber.held).toEqual([0]), patience)
    subscription.seek(0, 0)

    await vi.waitFor(() => expect(fetched).toBe(2), patience)
    expect(subscriber.batches).toHaveLength(1)
    hold.resolve()
    await vi.waitFor(() => expect(subscriber.records(0)).toHaveLength(appends * perAppend), patience)
    expect(done).toBeGreaterThan(3)
    expect(mostAhead).toBe(2)
  })
})

/** Calls `fetched` whenever a consumer of the client has come to a batch. */
function watched(client: KafkaClient, fetched: () => void): KafkaClient {
  const consumer = client.kafka.consumer.bind(client.kafka)
  client.kafka.consumer = (config): Consumer => {
    const made = consumer(config)
    made.on(made.events.START_BATCH_PROCESS, fetched)
    return made
  }
  return client
}
