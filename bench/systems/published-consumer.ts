import { randomUUID } from 'node:crypto'
import { kafkaOf } from './kafka-client.ts'

/** A consumer of a topic, as anybody would write one, which notes when it gets the first record of each key. */
export async function startConsumer(stack: AsyncDisposableStack, brokers: string, topic: string) {
  const seen = new Map<string, number>()
  const consumer = kafkaOf(brokers.split(',')).consumer({ groupId: `bench-${randomUUID()}`, maxWaitTimeInMs: 100 })
  stack.defer(() => consumer.disconnect())
  await consumer.connect()
  await consumer.subscribe({ topic, fromBeginning: true })
  await consumer.run({
    eachMessage: async ({ message }) => {
      const key = String(message.key)
      if (!seen.has(key)) seen.set(key, performance.now())
    },
  })
  return seen
}
