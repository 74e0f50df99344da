/** Keeps a table of the pets as GET shows them, whatever ends it. A row whose pet is null is that of a removed one. */
import { DatabaseSync } from 'node:sqlite'
import kafkajs from 'kafkajs'

const { KAFKA_BROKERS = '127.0.0.1:9092', KAFKA_TOPIC = 'petstore.pets', DATABASE = 'table.db' } = process.env
const { KAFKA_GROUP = 'table', KAFKA_TLS, KAFKA_SASL_USERNAME: username, KAFKA_SASL_PASSWORD: password } = process.env
const topic = `${KAFKA_TOPIC}.documents.pets`
const database = new DatabaseSync(DATABASE, { timeout: 10_000 })
database.exec('CREATE TABLE IF NOT EXISTS positions (partition INTEGER PRIMARY KEY, next INTEGER, time INTEGER)')
database.exec('CREATE TABLE IF NOT EXISTS pets (id INTEGER PRIMARY KEY, version INTEGER, pet TEXT)')
const sql = database.createTagStore()
// Tombstones are kept for seven days: after six without a record some may be gone, so the table is loaded anew.
if (sql.get`SELECT 1 FROM positions WHERE time < ${Date.now() - 6 * 86_400_000}`)
  database.exec('BEGIN; DELETE FROM pets; DELETE FROM positions; COMMIT')
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
    for (const { key, value, headers: { streamversion } = {}, offset, timestamp } of messages) {
      // A filling may tell an older pet once more. The row has the version, of a removed pet too, so it is left out.
      sql.run`INSERT INTO pets (id, version, pet) VALUES (${Number(key)}, ${Number(streamversion)}, ${value && `${value}`})
        ON CONFLICT DO UPDATE SET version = excluded.version, pet = excluded.pet WHERE excluded.version >= version`
      sql.run`REPLACE INTO positions VALUES (${partition}, ${Number(offset) + 1}, ${Number(timestamp)})`
    }
    database.exec('COMMIT')
  },
})
