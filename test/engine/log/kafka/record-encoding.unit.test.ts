import { createRequire } from 'node:module'
import fc from 'fast-check'
import { expect, it, onTestFinished, vi } from 'vitest'
import { encodeRecord, encodeRecords } from '../../../../src/engine/log/kafka/record-encoding.ts'

const require = createRequire(import.meta.url)
const encodedByKafkajs = require('kafkajs/src/protocol/recordBatch/record/v0')

const bytes = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 200 }),
  fc.uint8Array({ maxLength: 200 }).map((each) => Buffer.from(each)),
)
const records = fc.record({
  offsetDelta: fc.nat(),
  timestampDelta: fc.oneof(
    fc.nat({ max: 200 }),
    fc.integer(),
    fc.maxSafeInteger().map((each) => Math.trunc(each / 2)),
  ),
  key: fc.option(bytes),
  value: fc.option(bytes),
  headers: fc.dictionary(fc.string(), fc.oneof(bytes, fc.array(bytes, { maxLength: 3 })), { maxKeys: 3 }),
})

it('encodes a record to the bytes of kafkajs', () => {
  fc.assert(
    fc.property(records, (record) => {
      expect(encodeRecord(record).buffer).toEqual(encodedByKafkajs(record).buffer)
    }),
  )
})

it('sends the same requests', async () => {
  vi.useFakeTimers({ toFake: ['Date'] })
  onTestFinished(() => {
    vi.useRealTimers()
  })
  const messages = Array.from({ length: 50 }, (_, i) => ({
    key: `${i}`,
    value: 'x'.repeat(i * 10),
    headers: { a: `${i}` },
  }))
  const partitions = [{ partition: 3, messages }]
  const sent = async () => {
    const request = require('kafkajs/src/protocol/requests/produce/v3/request')
    const { buffer } = await request({ acks: -1, timeout: 1, topicData: [{ topic: 'seats', partitions }] }).encode()
    for (const path of Object.keys(require.cache))
      if (path.includes('/protocol/requests/produce/')) delete require.cache[path]
    for (const path of Object.keys(require.cache)) if (path.includes('/recordBatch/v0/')) delete require.cache[path]
    return buffer
  }
  const before = await sent()
  encodeRecords()
  expect(require('kafkajs/src/protocol/recordBatch/record/v0')).toBe(encodeRecord)
  expect(await sent()).toEqual(before)
})
