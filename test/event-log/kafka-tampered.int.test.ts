import { closeSync, mkdtempSync, openSync, readFileSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import type { KafkaBroker } from '../brokers/brokers.ts'
import { describeWithLocalBrokers } from '../brokers/describe.ts'
import { heldRequests } from '../brokers/held-requests.ts'
import { Link } from '../brokers/link.ts'
import { startKafka } from '../brokers/processes.ts'
import { freePort } from '../brokers/ready.ts'
import { eventually, patience, records } from './contract/fixture.ts'
import { logOptions, openKafkaLog, withAdmin } from './kafka-fixture.ts'
import { RecordingSubscriber } from './recording-subscriber.ts'

const produceApiKey = 0 // Kafka protocol, API keys

describeWithLocalBrokers('a broker of whose disk and network a test disposes', () => {
  const folder = mkdtempSync(join(tmpdir(), 'petstore-kafka-'))
  let broker: KafkaBroker
  let link: Link
  const { pass, hold } = heldRequests()
  beforeAll(async () => {
    const port = await freePort()
    link = await Link.to(port, pass)
    const config = { 'advertised.listeners': `PLAINTEXT://127.0.0.1:${link.port}` }
    broker = await startKafka({ config }, { port, folder })
  })
  afterAll(async () => {
    await broker?.remove()
    await link?.close()
  })

  it('a batch that is damaged on the disk is refused, and read once it is restored', async () => {
    const options = logOptions(broker.brokers, { undecodableDelayMs: 200 })
    const log = await openKafkaLog(options)
    for (const value of ['before', 'the pet', 'behind']) await log.append(0, records(value))
    await log.append(1, records('elsewhere'))
    const segment = join(folder, 'data', `${options.topic}-0`, '00000000000000000000.log')

    replaceIn(segment, 'the pet', 'the cat')
    const subscriber = await RecordingSubscriber.on(log)
    const undecodable = { partition: 0, offset: 1, reason: 'its checksum does not match its content' }
    await eventually(() => log.undecodable, [undecodable])
    await eventually(() => subscriber.values(1), ['elsewhere'])
    expect(subscriber.values(0)).toEqual(['before'])

    replaceIn(segment, 'the cat', 'the pet')
    await eventually(() => subscriber.values(0), ['before', 'the pet', 'behind'])
    expect(log.undecodable).toEqual([])
  })

  it('a reservation on its way to a log that is made anew takes no block there, although its look came before', async () => {
    const options = logOptions(broker.brokers)
    const log = await openKafkaLog(options)
    const idBlocks = `${options.topic}.id-blocks`
    const held = hold(produceApiKey)
    const reservation = expect(log.reserveIdBlock()).rejects.toMatchObject({ code: 'event_log_unavailable' })
    await held.arrived
    await withAdmin(broker.brokers, async (admin) => {
      await admin.deleteTopics({ topics: [idBlocks] })
      const topics = [{ topic: idBlocks, numPartitions: 1 }]
      const create = () => admin.createTopics({ topics, waitForLeaders: false }) // kafkajs may throw while it waits
      await vi.waitFor(async () => expect(await create()).toBe(true), patience)
      await vi.waitFor(() => admin.fetchTopicOffsets(idBlocks), patience)
      held.release()
      await reservation
      await log.replaced
      expect(await admin.fetchTopicOffsets(idBlocks)).toMatchObject([{ high: '1' }]) // it did arrive there
    })
  })
})

/** In the file, while others use it. */
function replaceIn(file: string, text: string, other: string): void {
  const at = readFileSync(file).indexOf(text)
  expect(at, `${text} in ${file}`).toBeGreaterThan(0)
  const opened = openSync(file, 'r+')
  writeSync(opened, other, at)
  closeSync(opened)
}
