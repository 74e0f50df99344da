import fc from 'fast-check'
import { expect, it } from 'vitest'
import { partitionOf } from '../../../../src/engine/log/kafka/default-partitioner.ts'
import { anyCharacter } from '../../../lib/any-character.ts'
import { partitionByKafkajs } from './partition-by-kafkajs.ts'

it('partitionOf is the default partitioner of Kafka, for any key and number of partitions', () => {
  const partitions = fc.integer({ min: 1, max: 256 })
  const keys = fc.oneof(fc.string({ unit: anyCharacter }), fc.nat().map(String), fc.string({ maxLength: 7 }))
  const holds = fc.property(keys, partitions, (key, count) => {
    expect(partitionOf(key, count)).toBe(partitionByKafkajs(key, count))
  })
  fc.assert(holds, { numRuns: 2000 })
})
