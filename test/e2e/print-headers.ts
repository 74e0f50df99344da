import kafkajs from 'kafkajs'

/*
 * Prints the headers of each record of a topic, a line each. Its arguments: brokers, topic, number of records. A program of
 * its own: the service, whose decoder tests share, reads no headers.
 */

const { Kafka, logLevel } = kafkajs
const [brokers = '', topic = '', count = '0'] = process.argv.slice(2)
const kafka = new Kafka({ brokers: brokers.split(','), logLevel: logLevel.NOTHING })
const consumer = kafka.consumer({ groupId: `headers-${process.pid}`, maxWaitTimeInMs: 100 })
let left = Number(count)
await consumer.connect()
await consumer.subscribe({ topic, fromBeginning: true })
await consumer.run({
  eachMessage: async ({ message: { key, headers = {} } }) => {
    const texts = Object.entries(headers).map(([name, value]) => [name, String(value)])
    process.stdout.write(`${JSON.stringify({ key: String(key), headers: Object.fromEntries(texts) })}\n`)
    if (--left === 0) setImmediate(() => process.exit())
  },
})
