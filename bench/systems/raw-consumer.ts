/**
 * The reference for what reading the topic costs by itself: a kafkajs consumer that does nothing with what it reads.
 * Run in the environment of the service as `node bench/systems/raw-consumer.ts GROUP EVENTS`. Prints a `Replay`.
 */
import { readConfig } from '../../src/engine/app/config.ts'
import { petstore } from '../../test/store/petstore.ts'
import { kafkaOf } from './kafka-client.ts'
import { Stopwatch } from './stopwatch.ts'

const [, , groupId = '', events] = process.argv
const { brokers } = readConfig(petstore, process.env)
if (brokers === undefined) throw new Error('no brokers are configured')
const { topic, partitions } = brokers.kafka

const stopwatch = new Stopwatch(Number(events))
// As the service fetches, but with the sizes of kafkajs, which are faster where nothing is done with the records
const consumer = kafkaOf(brokers.kafka.brokers).consumer({
  groupId,
  allowAutoTopicCreation: false,
  maxWaitTimeInMs: 100,
})
await consumer.connect()
await consumer.subscribe({ topics: [topic], fromBeginning: true })
await consumer.run({
  autoCommit: false,
  partitionsConsumedConcurrently: partitions,
  eachBatch: async ({ batch }) => {
    stopwatch.begin()
    stopwatch.reached(batch.partition, Number(batch.lastOffset()) + 1)
  },
})
process.stdout.write(`${JSON.stringify(await stopwatch.ended)}\n`)
await consumer.disconnect()
