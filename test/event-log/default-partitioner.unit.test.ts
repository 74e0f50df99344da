import fc from 'fast-check'
import kafkajs from 'kafkajs'
import { expect, it } from 'vitest'
import { partitionOf } from '../../src/event-log/kafka/kafka-event-log.ts'

const byKafkajs = kafkajs.Partitioners.DefaultPartitioner()
const metadata = { partitionErrorCode: 0, leader: 0, replicas: [], isr: [] }

function expected(key: string, partitions: number): number {
  const partitionMetadata = Array.from({ length: partitions }, (_, partitionId) => ({ partitionId, ...metadata }))
  return byKafkajs({ topic: 't', partitionMetadata, message: { key, value: null } })
}

it('partitionOf is the default partitioner of Kafka, for any key and number of partitions', () => {
  const partitions = fc.integer({ min: 1, max: 256 })
  const keys = [fc.string({ unit: 'binary' }), fc.nat().map(String), fc.string({ maxLength: 7 })]
  fc.assert(
    fc.property(fc.oneof(...keys), partitions, (key, count) => {
      expect(partitionOf(key, count)).toBe(expected(key, count))
    }),
    { numRuns: 2000 },
  )
})
