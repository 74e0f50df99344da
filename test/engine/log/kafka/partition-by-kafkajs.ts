import kafkajs from 'kafkajs'

const byDefault = kafkajs.Partitioners.DefaultPartitioner()

/** The partition of a key as kafkajs computes it. */
export function partitionByKafkajs(key: string, partitions: number): number {
  const metadata = { partitionErrorCode: 0, leader: 0, replicas: [], isr: [] }
  const partitionMetadata = Array.from({ length: partitions }, (_, partitionId) => ({ partitionId, ...metadata }))
  return byDefault({ topic: 'log', partitionMetadata, message: { key, value: null } })
}
