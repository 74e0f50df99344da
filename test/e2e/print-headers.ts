/**
 * Prints each record of a topic as a line: key, headers and value. Its arguments: brokers, topic, number of records. In a process
 * of its own, where kafkajs reads as it does for anybody: tests read as the service does, which leaves headers out.
 */
import kafkajs from 'kafkajs'

const [brokers = '', topic = '', count = '0'] = process.argv.slice(2)
const kafka = new kafkajs.Kafka({ brokers: brokers.split(','), logLevel: kafkajs.logLevel.NOTHING })
const consumer = kafka.consumer({ groupId: crypto.randomUUID(), maxWaitTimeInMs: 100 })
let left = Number(count)
await consumer.connect()
await consumer.subscribe({ topic, fromBeginning: true })
await consumer.run({
  eachMessage: async ({ message: { key, value, headers = {} } }) => {
    const texts = Object.fromEntries(Object.entries(headers).map(([name, text]) => [name, String(text)]))
    const payload = JSON.parse(String(value))
    process.stdout.write(`${JSON.stringify({ key: String(key), headers: texts, payload })}\n`)
    if (--left === 0) setImmediate(() => process.exit())
  },
})
