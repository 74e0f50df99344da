import { cpSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { describe, it, onTestFinished } from 'vitest'
import { startRedis } from '../brokers/brokers.ts'
import { describeWithLocalBrokers } from '../brokers/describe.ts'
import { startKafka } from '../brokers/processes.ts'
import { Client } from './client.ts'
import { createMany, expectLogServed, untilListed } from './log-served.ts'
import { expectVerified } from './petstore.ts'
import { brokerEnvironment, dataFolder, startService } from './service-process.ts'
import { readEvents } from './topic.ts'
import { expectTruth, settleUnknown, WriteLoad } from './write-load.ts'

const timeout = 180_000

describeWithLocalBrokers('when Kafka fails', () => {
  async function startAll() {
    const folder = mkdtempSync(join(tmpdir(), 'petstore-kafka-'))
    const [kafka, redis] = await Promise.all([startKafka({}, { folder }), startRedis()])
    onTestFinished(async () => void (await Promise.all([kafka.remove(), redis.remove()])))
    const environment = brokerEnvironment({ kafkaBrokers: kafka.brokers, redisUrl: redis.url })
    const client = new Client(await startService(environment))
    return { kafka, environment, client, data: join(folder, 'data') }
  }

  it('it is killed with kill -9 and started again, with writes going on', { timeout }, async () => {
    const { kafka, environment, client } = await startAll()
    const load = new WriteLoad(client, 8)
    await load.until(300, 201)
    await kafka.kill()
    await load.until(20, 503)
    await kafka.start()
    await load.until(300, 201)
    await expectVerified(environment)
    const attempts = await load.stop()
    const settled = await settleUnknown(client, attempts)
    await expectTruth(client, { attempts, settled, events: await readEvents(kafka.brokers, environment.KAFKA_TOPIC) })
    await expectVerified(environment)
  })

  it('it comes back without the last events, as a disk that was put back would have it', { timeout }, async () => {
    const { kafka, environment, client, data } = await startAll()
    const kept = await createMany(client, 60)
    await kafka.stop()
    const backup = dataFolder()
    const partitions = [0, 1, 2, 3, 4, 5].map((partition) => `${environment.KAFKA_TOPIC}-${partition}`)
    for (const name of partitions) cpSync(join(data, name), join(backup, name), { recursive: true })
    await kafka.start()
    await createMany(client, 300)
    await kafka.kill()
    for (const name of partitions) {
      rmSync(join(data, name), { recursive: true })
      cpSync(join(backup, name), join(data, name), { recursive: true })
    }
    await kafka.start()
    await untilListed(client, kept)
    const more = await createMany(client, 60)
    await expectLogServed(environment, client, [...kept, ...more])
  })
})

describe('when the embedded log has lost its last events', () => {
  it.each([
    ['nothing is written', 0],
    ['fewer events are written', 20],
    ['more events are written', 200],
  ])('the pets are those of the log, though %s afterwards', async (_, count) => {
    const environment = { DATA_DIR: dataFolder() }
    const service = await startService(environment)
    const pets = await createMany(new Client(service), 150)
    await service.end('SIGKILL')
    const kept = cutEmbeddedLog(environment.DATA_DIR, 50)
    const client = new Client(await startService(environment))
    const more = await createMany(client, count)
    await untilListed(client, [...pets.filter(({ id }) => kept.has(id)), ...more])
    await expectVerified(environment)
  })
})

function cutEmbeddedLog(folder: string, length: number): ReadonlySet<number> {
  const db = new DatabaseSync(join(folder, 'event-log.db'))
  db.prepare('DELETE FROM records WHERE "offset" >= ?').run(length)
  const kept = db.prepare('SELECT value FROM records').all()
  db.close()
  return new Set(kept.map(({ value }) => JSON.parse(Buffer.from(value as Uint8Array).toString()).data.id as number))
}
