/**
 * Prints the headers of each record of the topic as a line, with its key. In a process of its own, where kafkajs reads as it does
 * for anybody: tests read as the service does, which leaves headers out.
 */
import kafkajs from 'kafkajs'

const { KAFKA_BROKERS = '', KAFKA_TOPIC = '' } = process.env
const consumer = new kafkajs.Kafka({ brokers: KAFKA_BROKERS.split(','), logLevel: kafkajs.logLevel.NOTHING }).consumer({
  groupId: crypto.randomUUID(),
})
await consumer.connect()
await consumer.subscribe({ topic: KAFKA_TOPIC, fromBeginning: true })
await consumer.run({
  eachMessage: async ({ message: { key, value, headers = {} } }) => {
    const texts = Object.entries(headers).map(([name, text]) => [name, String(text)])
    const payload = JSON.parse(String(value))
    process.stdout.write(`${JSON.stringify({ key: String(key), headers: Object.fromEntries(texts), payload })}\n`)
  },
})
