/**
 * The references for what the service costs. Each serves routes under `/v1`, behind the service's own authentication, reading of
 * bodies and, where a route has a schema, checking of them. Prints its URL.
 *
 * `node bench/systems/reference-server.ts bare METHOD PAYLOAD`: what HTTP itself costs. It answers every request with one string.
 *
 * `node bench/systems/reference-server.ts naive`, in the environment of the service: what durable writes cost without grouping
 * them. Each POST awaits one request to Kafka with its one record or, where no brokers are set, one transaction of SQLite.
 * Nothing is projected. Its topic or file stands beside that of the service.
 */
import { randomUUIDv7 } from 'node:crypto'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox'
import Fastify, { type FastifyInstance } from 'fastify'
import { Partitioners } from 'kafkajs'
import { pino } from 'pino'
import { openKeyRing } from '../../src/engine/api-keys/key-ring.ts'
import { type Config, readConfig } from '../../src/engine/app/config.ts'
import { requireApiKey } from '../../src/engine/http/guards/auth.ts'
import { compileRequestCheck, readOnlyJson } from '../../src/engine/http/values/request-values.ts'
import { jsonType } from '../../src/engine/http/wire/error-replies.ts'
import { timeOfDay } from '../../src/engine/lib/clock.ts'
import type { NewRecord } from '../../src/engine/log/event-log.ts'
import { NewPetSchema, type PetId, petDocument, toNewPet } from '../../src/store/pet.ts'
import { askKafka } from '../../test/brokers/ready.ts'
import { encodeEvent, petstore } from '../../test/store/petstore.ts'
import { kafkaOf } from './kafka-client.ts'

/** Resolves once the record is durable. */
type Append = (record: NewRecord) => Promise<unknown>

const [, , kind, method, payload = ''] = process.argv
const body = { schema: { body: NewPetSchema } }
const { API_KEYS = '' } = process.env
const path = 'no-file-of-keys.json'
const keys = openKeyRing({ path, given: [API_KEYS], now: timeOfDay, logger: pino({ level: 'silent' }) })
const append = kind === 'naive' ? await openNaiveLog() : undefined
const app = Fastify()
await app.register(
  async (v1) => {
    await requireApiKey(v1, keys.find)
    readOnlyJson(v1)
    v1.setValidatorCompiler(compileRequestCheck)
    if (append === undefined) addBareRoutes(v1)
    else addNaiveRoute(v1, append)
  },
  { prefix: '/v1' },
)
process.once('SIGTERM', () => process.exit()) // so that Node writes a profile, if it was asked for one
process.stdout.write(`${await app.listen({ host: '127.0.0.1', port: 0 })}\n`)

function addBareRoutes(v1: FastifyInstance): void {
  if (method === 'POST') {
    v1.post('/pets', body, (_request, reply) => {
      reply.code(201).type(jsonType).send(payload)
    })
  } else {
    for (const path of ['/pets', '/pets/:petId']) {
      v1.get(path, (_request, reply) => {
        reply.type(jsonType).send(payload)
      })
    }
  }
}

function addNaiveRoute(v1: FastifyInstance, append: Append): void {
  let lastId = 0
  v1.withTypeProvider<TypeBoxTypeProvider>().post('/pets', body, async (request, reply) => {
    const pet = { id: ++lastId as PetId, ...toNewPet(request.body) }
    const context = { eventId: randomUUIDv7(), version: 1, time: new Date().toISOString() }
    await append(encodeEvent({ type: 'PetCreated', pet }, context))
    reply.code(201).type(jsonType)
    return petDocument(pet)
  })
}

async function openNaiveLog(): Promise<Append> {
  const { brokers, dataDir } = readConfig(petstore, process.env)
  return brokers ? await openKafka(brokers.kafka) : openSqlite(join(dataDir, 'naive.db'))
}

async function openKafka({
  brokers,
  topic: serviceTopic,
  partitions,
}: NonNullable<Config['brokers']>['kafka']): Promise<Append> {
  const topic = `${serviceTopic}.naive`
  const kafka = kafkaOf(brokers)
  await askKafka(kafka, (admin) => admin.createTopics({ topics: [{ topic, numPartitions: partitions }] }))
  const producer = kafka.producer({ createPartitioner: Partitioners.DefaultPartitioner })
  await producer.connect()
  return ({ key, value, headers }) =>
    producer.send({ topic, acks: -1, messages: [{ key, value, headers: { ...headers } }] })
}

function openSqlite(file: string): Append {
  const db = new DatabaseSync(file)
  db.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL')
  db.exec('CREATE TABLE records ("offset" INTEGER PRIMARY KEY, key BLOB, value BLOB, headers TEXT) STRICT')
  const insert = db.prepare('INSERT INTO records (key, value, headers) VALUES (?, ?, ?)')
  return async ({ key, value, headers }) => insert.run(Buffer.from(key), Buffer.from(value), JSON.stringify(headers))
}
