import { createRequire } from 'node:module'
import { gunzipSync, gzipSync } from 'node:zlib'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { decodeRecordBatch } from '../../../../src/engine/log/kafka/record-batch.ts'
import { recordValueMax } from '../../../../src/engine/log/record-codec.ts'

const require = createRequire(import.meta.url)
const Record = require('kafkajs/src/protocol/recordBatch/record/v0')
const { RecordBatch } = require('kafkajs/src/protocol/recordBatch/v0')

interface Written {
  readonly key: Buffer | null
  readonly value: Buffer | null
  readonly headers?: { readonly [name: string]: string }
}

/** A batch as it is on the wire, with kafkajs's own encoder. */
async function batchOf(written: readonly Written[], { firstOffset = 0, isCompressed = false } = {}): Promise<Buffer> {
  const records = written.map((each, offsetDelta) => Record({ offsetDelta, timestampDelta: 5, ...each }))
  const encoded = await RecordBatch({ firstOffset, lastOffsetDelta: written.length - 1, records, compression: 0 })
  const batch: Buffer = encoded.buffer
  if (!isCompressed) return batch
  const compressed = Buffer.concat([batch.subarray(0, 61), gzipSync(batch.subarray(61))])
  compressed.writeInt16BE(1, 21)
  return compressed
}

const gunzip = async (bytes: Buffer) => gunzipSync(bytes)
const bytes = fc.option(fc.uint8Array({ maxLength: 300 }).map((each) => Buffer.from(each)))
const headers = fc.dictionary(fc.string(), fc.string(), { maxKeys: 3 })
const writtenRecords = fc.array(fc.record({ key: bytes, value: bytes, headers }), { minLength: 1, maxLength: 20 })

it('gives back the keys and values that were written, with their offsets', async () => {
  await fc.assert(
    fc.asyncProperty(writtenRecords, fc.maxSafeNat(), fc.boolean(), async (written, firstOffset, isCompressed) => {
      const batch = await batchOf(written, { firstOffset, isCompressed })
      const found = await decodeRecordBatch(batch, isCompressed ? gunzip : undefined)
      expect(found.map(({ offset, key, value }) => ({ offset, key, value }))).toEqual(
        written.map(({ key, value }, i) => ({ offset: String(BigInt(firstOffset) + BigInt(i)), key, value })),
      )
    }),
  )
})

it('cuts values that are longer than any that is read', async () => {
  const [longest, longer] = [Buffer.alloc(recordValueMax, 'a'), Buffer.alloc(1_000_000, 'b')]
  const batch = await batchOf([longest, longer].map((value) => ({ key: null, value })))
  const found = await decodeRecordBatch(batch, undefined)
  expect(found.map(({ value }) => value)).toEqual([longest, longer.subarray(0, recordValueMax + 1)])
})

it.each([
  ['its bytes', [{ key: null, value: Buffer.alloc(1000) }]],
  ['the number of its records', Array.from({ length: 5 }, () => ({ key: null, value: null }))],
])('leaves out a batch that decodes to too much by %s, with an empty record at its last offset', async (_, written) => {
  const batch = await batchOf(written, { firstOffset: 40, isCompressed: true })
  const found = await decodeRecordBatch(batch, gunzip, 999)
  const offset = String(40 + written.length - 1)
  expect(found).toMatchObject([
    { offset, key: null, value: null, isControlRecord: false, tooLarge: expect.any(String) },
  ])
})

it('refuses any batch that contradicts itself, and reads nothing behind it', async () => {
  const batch = await batchOf([{ key: Buffer.from('key'), value: Buffer.from('value'), headers: { a: 'b' } }])
  const inRecords = fc.integer({ min: 61, max: batch.length - 1 })
  await fc.assert(
    fc.asyncProperty(inRecords, fc.nat(255), fc.integer({ min: 0, max: 2 ** 31 - 1 }), async (at, byte, count) => {
      const broken = Buffer.from(batch)
      broken[at] = byte
      broken.writeInt32BE(count, 57)
      const found = await decodeRecordBatch(broken, undefined).catch((error: unknown) => error)
      if (found instanceof Error) expect(found).toBeInstanceOf(RangeError)
      else expect((found as unknown[]).length).toBeLessThanOrEqual(1)
    }),
  )
})
