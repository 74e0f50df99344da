/**
 * The reference for what durable writes cost without grouping them: each POST awaits one request to Kafka with its one
 * record or, where no brokers are set, one transaction of SQLite. Nothing is projected. Run in the environment of the
 * service as `node bench/systems/naive-server.ts`: its topic or file stands beside that of the service.
 */
import { randomUUIDv7 } from 'node:crypto'
import { connect } from 'node:net'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox'
import { type ISocketFactoryArgs, Kafka, logLevel, Partitioners } from 'kafkajs'
import { type KafkaConfig, readConfig } from '../../src/app/config.ts'
import { encodeEvent } from '../../src/domain/event-codec.ts'
import { NewPetSchema, type PetId, petDocument, toNewPet } from '../../src/domain/pet.ts'
import type { NewRecord } from '../../src/event-log/event-log.ts'
import { jsonType } from '../../src/http/error-replies.ts'
import { serve } from './reference-app.ts'

/** Resolves once the record is durable. */
type Append = (record: NewRecord) => Promise<unknown>

const { brokers, dataDir } = readConfig(process.env)
const append = brokers ? await openKafka(brokers.kafka) : openSqlite(join(dataDir, 'naive.db'))
let lastId = 0

await serve((v1) => {
  v1.withTypeProvider<TypeBoxTypeProvider>().post(
    '/pets',
    { schema: { body: NewPetSchema } },
    async (request, reply) => {
      const pet = { id: ++lastId as PetId, ...toNewPet(request.body) }
      const context = { eventId: randomUUIDv7(), version: 1, time: new Date().toISOString() }
      await append(encodeEvent({ type: 'PetCreated', pet }, context))
      reply.code(201).type(jsonType)
      return petDocument(pet)
    },
  )
})

async function openKafka({ brokers, topic: serviceTopic, partitions }: KafkaConfig): Promise<Append> {
  const topic = `${serviceTopic}.naive`
  const kafka = new Kafka({ brokers: [...brokers], socketFactory: openSocket, logLevel: logLevel.ERROR })
  const admin = kafka.admin()
  await admin.connect()
  await admin.createTopics({ topics: [{ topic, numPartitions: partitions }] })
  await admin.disconnect()
  const producer = kafka.producer({ createPartitioner: Partitioners.DefaultPartitioner })
  await producer.connect()
  return ({ key, value, headers }) =>
    producer.send({ topic, acks: -1, messages: [{ key, value, headers: { ...headers } }] })
}

// kafkajs leaves Nagle's algorithm on, which no comparison is to be won by.
function openSocket({ host, port, onConnect }: ISocketFactoryArgs) {
  return connect({ host, port, noDelay: true }, onConnect)
}

function openSqlite(file: string): Append {
  const db = new DatabaseSync(file)
  db.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL')
  db.exec('CREATE TABLE records ("offset" INTEGER PRIMARY KEY, key BLOB, value BLOB, headers TEXT) STRICT')
  const insert = db.prepare('INSERT INTO records (key, value, headers) VALUES (?, ?, ?)')
  return async ({ key, value, headers }) => insert.run(Buffer.from(key), Buffer.from(value), JSON.stringify(headers))
}
