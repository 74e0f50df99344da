import kafkajs from 'kafkajs'
import { expect, it, onTestFinished, vi } from 'vitest'
import { recordValueMax } from '../../../../src/engine/log/record-codec.ts'
import { describeWithBrokers } from '../../../brokers/describe.ts'
import { createTopics, patientKafka } from '../../../brokers/topics.ts'
import { captureLog } from '../../../lib/captured-log.ts'
import { eventually, patience, records } from '../contract/fixture.ts'
import { RecordingSubscriber } from '../recording-subscriber.ts'
import { logOptions, openKafkaLog, topicsOf } from './kafka-fixture.ts'

const { CompressionCodecs, CompressionTypes } = kafkajs
const { GZIP: gzip, Snappy: snappy, LZ4: lz4, ZSTD: zstd } = CompressionTypes
const types = { gzip, snappy, lz4, zstd } as const

describeWithBrokers('a Kafka event log with compressed batches', ({ kafkaBrokers: brokers }) => {
  it.each(['gzip', 'snappy', 'lz4', 'zstd'] as const)('reads what the broker compresses with %s', async (name) => {
    const used = countUses(types[name])
    const log = await openKafkaLog(await compressedTopics(name))
    expect(used()).toBeGreaterThan(0) // for the identity of the log
    const subscriber = await RecordingSubscriber.on(log)
    const values = ['a', 'Zoë 🐕', 'x'.repeat(300_000), ...Array.from({ length: 900 }, (_, i) => `seat ${i}`)]
    await log.append(1, records(...values))
    await eventually(
      () => subscriber.values(1),
      values.map((value) => value.slice(0, recordValueMax + 1)),
    )
    await log.append(1, records('behind'))
    await eventually(() => subscriber.values(1).at(-1), 'behind')
    expect(log.undecodable).toEqual([])
  })

  it('goes on with other partitions where a batch cannot be decoded, and names that one', async () => {
    const { log, subscriber, topic, lines } = await openWatched()
    await log.append(1, records('a', 'b'))
    await eventually(() => subscriber.values(1), ['a', 'b'])
    let tries = 0
    replaceCodec(gzip, async () => {
      tries++
      throw new Error('no such codec')
    })
    await produceGzip(topic, 1, 'c')
    await log.append(1, records('behind'))

    await eventually(() => log.undecodable, [{ partition: 1, offset: 2, reason: 'no such codec' }])
    for (const value of ['d', 'e', 'f']) await log.append(0, records(value))
    await eventually(() => subscriber.values(0), ['d', 'e', 'f'])
    expect(subscriber.values(1)).toEqual(['a', 'b'])
    expect(subscriber.of(1).at(-1)?.next).toBe(2)

    // Whoever resumes at the record before, as projectors do, comes to it as well; and it is tried again.
    subscriber.seek(1, 1)
    await eventually(() => subscriber.values(1), ['a', 'b', 'b'])
    const before = tries
    await vi.waitFor(() => expect(tries).toBeGreaterThan(before), patience)
    expect(subscriber.of(1).every((batch) => batch.records.length > 0)).toBe(true)
    expect(subscriber.assignments).toHaveLength(1)
    expect(lines.filter(({ offset }) => offset === 2)).toEqual([
      expect.objectContaining({ level: 50, partition: 1, msg: expect.stringContaining('cannot be decoded') }),
    ])
  })

  it('leaves out a batch that decodes to too much, reads on, and says so', async () => {
    const { log, subscriber, topic, lines } = await openWatched()
    await log.append(1, records('a'))
    await produceGzip(topic, 1, Buffer.alloc(65 * 1024 * 1024))
    await log.append(1, records('behind'))
    await eventually(() => subscriber.values(1), ['a', 'null', 'behind'])
    // A read is given up after a second, which so much to decode may take on a busy machine
    await eventually(async () => (await log.read(1, 0, 10)).records.map(({ value }) => String(value)), ['a'])
    await eventually(() => log.read(1, 1, 10), { records: [{ offset: 1, key: null, value: null }], next: 2 })
    const what = {
      code: 'batches_left_out',
      message: expect.stringContaining('offset 1 of partition 1: it decodes to more'),
    }
    expect(log.warnings).toEqual([what])
    expect(log.undecodable).toEqual([])
    subscriber.seek(1, 0)
    await eventually(() => subscriber.values(1), ['a', 'null', 'behind', 'a', 'null', 'behind'])
    expect(lines.filter(({ offset }) => offset === 1)).toHaveLength(1)
  })

  it('reads on once the batch can be decoded after all', async () => {
    const { log, subscriber, topic, lines } = await openWatched()
    const broken = replaceCodec(gzip, async () => {
      throw new Error('no such codec')
    })
    await produceGzip(topic, 2, 'a')
    await log.append(2, records('b'))
    const undecodable = { partition: 2, offset: 0, reason: 'no such codec' }
    await eventually(() => log.undecodable, [undecodable])
    expect(subscriber.of(2)).toEqual([])
    broken.restore()
    await eventually(() => subscriber.values(2), ['a', 'b'])
    expect(log.undecodable).toEqual([])
    expect(lines).toMatchObject([
      { ...undecodable, level: 50 },
      { ...undecodable, level: 30 },
    ])
  })

  it('refuses to start where its identity cannot be decoded, and says so at once', async () => {
    const options = await compressedTopics('lz4')
    await (await openKafkaLog(options)).close()
    replaceCodec(lz4, async () => {
      throw new Error('no such codec')
    })
    const what = `the batch at offset 0 of topic ${options.topic}.id-blocks cannot be decoded: no such codec`
    await expect(openKafkaLog({ ...options, bootTimeoutMs: 600_000 })).rejects.toThrow(what)
  })

  it('starts behind batches of the id blocks that cannot be decoded, and warns of each of their records', async () => {
    const options = logOptions(brokers)
    const log = await openKafkaLog(options)
    await log.close()
    const values = Array.from({ length: 300 }, () => 'other')
    await produceGzip(`${options.topic}.id-blocks`, 0, ...values)
    replaceCodec(gzip, async () => {
      throw new Error('no such codec')
    })
    const again = await openKafkaLog(options)
    expect(again.logId).toBe(log.logId)
    const message = expect.stringContaining('ends in 300 records')
    expect(again.warnings).toMatchObject([{ code: 'foreign_id_blocks', message }])
  })

  async function compressedTopics(compression: string) {
    const options = logOptions(brokers)
    await createTopics(brokers, ...topicsOf(options, { 'compression.type': compression }))
    return options
  }

  async function openWatched() {
    const { lines, logger } = captureLog()
    const options = logOptions(brokers, { logger, undecodableDelayMs: 200 })
    const log = await openKafkaLog(options)
    lines.length = 0
    return { log, lines, topic: options.topic, subscriber: await RecordingSubscriber.on(log) }
  }

  async function produceGzip(topic: string, partition: number, ...values: (string | Buffer)[]): Promise<void> {
    const producer = patientKafka(brokers).producer({ allowAutoTopicCreation: false })
    await producer.connect()
    await producer.send({
      topic,
      compression: gzip,
      messages: values.map((value) => ({ partition, key: 'key', value })),
    })
    await producer.disconnect()
  }
})

type Type = keyof typeof CompressionCodecs
type Decompress = (bytes: Buffer) => Promise<Buffer>

/** How often the codec has decompressed since. */
function countUses(type: Type): () => number {
  let uses = 0
  const { decompress }: { decompress: Decompress } = CompressionCodecs[type]()
  replaceCodec(type, (bytes) => {
    uses++
    return decompress(bytes)
  })
  return () => uses
}

/** Until the end of the test. */
function replaceCodec(type: Type, decompress: Decompress) {
  const before = CompressionCodecs[type]
  const restore = () => {
    CompressionCodecs[type] = before
  }
  onTestFinished(restore)
  CompressionCodecs[type] = () => ({ ...before(), decompress })
  return { restore }
}
