/** Writes one mail to the table `outbox` for each pet that is sold: none is lost and none comes twice, whatever ends it. */
import { DatabaseSync } from 'node:sqlite'
import kafkajs from 'kafkajs'

const { KAFKA_BROKERS = '127.0.0.1:9092', KAFKA_TOPIC = 'petstore.pets', DATABASE = 'mailer.db' } = process.env
const { KAFKA_GROUP = 'mailer', KAFKA_TLS, KAFKA_SASL_USERNAME: username, KAFKA_SASL_PASSWORD: password } = process.env
const topic = `${KAFKA_TOPIC}.published`
const database = new DatabaseSync(DATABASE, { timeout: 10_000 })
database.exec('CREATE TABLE IF NOT EXISTS positions (partition INTEGER PRIMARY KEY, next INTEGER)')
database.exec('CREATE TABLE IF NOT EXISTS streams (stream TEXT PRIMARY KEY, version INTEGER, place INTEGER)')
database.exec('CREATE TABLE IF NOT EXISTS outbox (mail TEXT)')
const sql = database.createTagStore()
const login = username && { sasl: { mechanism: 'plain' as const, username, password: password ?? '' } }
const kafka = new kafkajs.Kafka({ brokers: KAFKA_BROKERS.split(','), ssl: KAFKA_TLS === 'true', ...(login || {}) })
const consumer = kafka.consumer({ groupId: KAFKA_GROUP, sessionTimeout: 6000, allowAutoTopicCreation: false })
consumer.on('consumer.group_join', ({ payload: { memberAssignment } }) => {
  for (const partition of memberAssignment[topic] ?? []) {
    const next = sql.get`SELECT next FROM positions WHERE partition = ${partition}`?.next ?? 0
    consumer.seek({ topic, partition, offset: String(next) })
  }
})
await consumer.connect()
await consumer.subscribe({ topic, fromBeginning: true })
await consumer.run({
  eachBatch: async ({ batch: { partition, messages } }) => {
    if (database.isTransaction) database.exec('ROLLBACK') // the batch before failed
    database.exec('BEGIN IMMEDIATE')
    for (const { value, offset } of messages) {
      const { type, subject, streamversion = 1, streamindex = 0, data } = JSON.parse(String(value))
      const { changes } = sql.run`INSERT INTO streams VALUES (${subject}, ${streamversion}, ${streamindex})
        ON CONFLICT DO UPDATE SET version = excluded.version, place = excluded.place
        WHERE (excluded.version, excluded.place) > (version, place)`
      const mail = `Order ${data.orderId}: pet ${data.petId} is sold`
      if (changes > 0 && type === 'petstore.OrderDelivered.v1') sql.run`INSERT INTO outbox VALUES (${mail})`
      sql.run`REPLACE INTO positions VALUES (${partition}, ${Number(offset) + 1})`
    }
    database.exec('COMMIT')
  },
})
