import type { IHeaders, KafkaMessage } from 'kafkajs'
import { withTimeout } from '../../src/engine/lib/with-timeout.ts'
import { askKafka } from '../../test/brokers/ready.ts'
import { kafkaOf } from '../systems/kafka-client.ts'

const sampled = 200
const withinMs = 30_000

/** The mean size of a record, by the last ones of the first partition. The service does not compress them. */
export async function recordBytes(brokers: readonly string[], topic: string): Promise<number> {
  const kafka = kafkaOf(brokers)
  const offsets = await askKafka(kafka, (admin) => admin.fetchTopicOffsets(topic))
  const first = offsets.find(({ partition }) => partition === 0)
  const high = Number(first?.high)
  const from = Math.max(Number(first?.low), high - sampled)
  const consumer = kafka.consumer({ groupId: `${topic}.soak`, allowAutoTopicCreation: false })
  await consumer.connect()
  try {
    await consumer.subscribe({ topics: [topic] })
    const sizes: number[] = []
    const { promise: ended, resolve } = Promise.withResolvers<void>()
    await consumer.run({
      autoCommit: false,
      eachMessage: async ({ partition, message }) => {
        if (partition !== 0 || Number(message.offset) < from) return
        if (sizes.length < sampled) sizes.push(sizeOf(message))
        if (Number(message.offset) === high - 1) resolve()
      },
    })
    consumer.seek({ topic, partition: 0, offset: String(from) })
    await withTimeout(withinMs, ended)
    return sizes.reduce((sum, size) => sum + size, 0) / sizes.length
  } finally {
    await consumer.disconnect()
  }
}

/** Bytes of key, value and headers: the rest of a record is a few bytes. */
function sizeOf({ key, value, headers = {} }: KafkaMessage): number {
  return (key?.length ?? 0) + (value?.length ?? 0) + headerBytes(headers)
}

function headerBytes(headers: IHeaders): number {
  const bytes = Object.entries(headers).map(([name, value]) => Buffer.byteLength(`${name}${value}`))
  return bytes.reduce((sum, size) => sum + size, 0)
}
