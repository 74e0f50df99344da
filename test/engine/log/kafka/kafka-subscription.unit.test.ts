import { expect, it, onTestFinished } from 'vitest'
import type { KafkaClient } from '../../../../src/engine/log/kafka/kafka-client.ts'
import { KafkaSubscription } from '../../../../src/engine/log/kafka/kafka-subscription.ts'
import { eventually } from '../../../lib/eventually.ts'
import { RecordingSubscriber } from '../recording-subscriber.ts'
import { silent } from './kafka-fixture.ts'

/** One that holds partition 0, as a consumer tells it that never gets anything by itself. */
function holding(undecodableDelayMs: number): KafkaSubscription {
  const consumer = { events: {}, on() {}, connect: () => new Promise(() => {}), async disconnect() {} }
  const client = {
    kafka: { consumer: () => ({ ...consumer, seek() {}, resume() {}, async commitOffsets() {} }) },
    abandon() {},
  }
  const subscription = new KafkaSubscription({
    ...{ topic: 'seats', partitions: 1, group: 'projector', logger: silent, undecodableDelayMs },
    newClient: () => client as unknown as KafkaClient,
    leftOut: () => {},
    subscriber: new RecordingSubscriber(undefined),
  })
  onTestFinished(() => subscription.close())
  subscription.assigned([0])
  subscription.seek(0, 0)
  return subscription
}

it('a batch that cannot be decoded is told while it is met again and again, and not once the log has lost it', async () => {
  const batch = { partition: 0, offset: 1, reason: 'damaged' }
  const subscription = holding(200)
  for (let turn = 0; turn < 2; turn++) {
    subscription.cannotDecode(batch, 1)
    expect(subscription.undecodable).toEqual([batch])
    await eventually(() => expect(subscription.undecodable).toEqual([]))
  }
  const slow = holding(60_000)
  slow.cannotDecode(batch, 1)
  await eventually(() => expect(subscription.undecodable).toEqual([]))
  expect(slow.undecodable).toEqual([batch])
})
