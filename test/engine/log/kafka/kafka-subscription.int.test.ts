import type { Consumer } from 'kafkajs'
import { expect, it, onTestFinished } from 'vitest'
import { KafkaClient } from '../../../../src/engine/log/kafka/kafka-client.ts'
import { KafkaSubscription } from '../../../../src/engine/log/kafka/kafka-subscription.ts'
import { describeWithBrokers } from '../../../brokers/describe.ts'
import { eventually, records } from '../contract/fixture.ts'
import { newGroup, RecordingSubscriber } from '../recording-subscriber.ts'
import { logOptions, openKafkaLog } from './kafka-fixture.ts'

describeWithBrokers('a subscription to Kafka', ({ kafkaBrokers: brokers }) => {
  it('fetches the next batch, and no more, while one is in hand', async () => {
    const options = logOptions(brokers, { partitions: 1 })
    const log = await openKafkaLog(options)
    const [appends, perAppend] = [8, 600]
    const long = 'x'.repeat(1500) // so that Kafka does not give more than one of these at a time
    for (let i = 0; i < appends; i++) await log.append(0, records(...Array.from({ length: perAppend }, () => long)))

    const subscriber = new RecordingSubscriber(undefined)
    let [fetched, done, mostAhead] = [0, 0, 0]
    const newClient = () =>
      watched(new KafkaClient(options), () => {
        fetched++
        mostAhead = Math.max(mostAhead, fetched - done)
      })
    const leftOut = () => {}
    const subscription = new KafkaSubscription({ ...options, newClient, group: newGroup(), subscriber, leftOut })
    onTestFinished(() => subscription.close())
    const hold = Promise.withResolvers<void>()
    subscriber.answer = async () => {
      await hold.promise
      done++
      return true
    }
    await eventually(() => subscriber.held, [0])
    subscription.seek(0, 0)

    await eventually(() => fetched, 2)
    expect(subscriber.batches).toHaveLength(1)
    hold.resolve()
    await eventually(() => subscriber.records(0).length, appends * perAppend)
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
