import { createRequire } from 'node:module'
import { crc32c } from '@node-rs/crc32'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { decodeFetches, withoutMarker } from '../../../../src/engine/log/kafka/batch-decoding.ts'
import { registerCodecs } from '../../../../src/engine/log/kafka/codecs.ts'

const require = createRequire(import.meta.url)
decodeFetches()
const Decoder = require('kafkajs/src/protocol/decoder')
const decodeMessages = require('kafkajs/src/protocol/requests/fetch/v4/decodeMessages')
const { RecordBatch } = require('kafkajs/src/protocol/recordBatch/v0')
const Record = require('kafkajs/src/protocol/recordBatch/record/v0')

/** A batch as it is on the wire. */
async function batch(firstOffset: number, count: number, { compression = 1, value = Buffer.from('value') } = {}) {
  const records = Array.from({ length: count }, (_, offsetDelta) => Record({ offsetDelta, key: null, value }))
  const encoded = await RecordBatch({ firstOffset, lastOffsetDelta: count - 1, records, compression })
  return encoded.buffer as Buffer
}

async function decode(...batches: readonly Buffer[]) {
  const bytes = Buffer.concat(batches)
  const length = Buffer.alloc(4)
  length.writeInt32BE(bytes.length)
  const behind = Buffer.from('behind')
  const decoder = new Decoder(Buffer.concat([length, bytes, behind]))
  const found = withoutMarker<{ offset: string }>(await decodeMessages(decoder))
  expect(decoder.readAll()).toEqual(behind)
  return { offsets: found.messages.map(({ offset }) => Number(offset)), undecodable: found.undecodable }
}

const upTo = (end: number) => Array.from({ length: end }, (_, offset) => offset)

it('what can be decoded is, up to the batch that the limit of the fetch cut off', async () => {
  const [first, second] = [await batch(0, 3), await batch(3, 2)]
  expect(await decode(first, second)).toEqual({ offsets: upTo(5), undecodable: undefined })
  expect(await decode(first, second.subarray(0, -1))).toEqual({ offsets: upTo(3), undecodable: undefined })
})

it.each([
  ['not compressed', 0],
  ['compressed', 1],
])(
  'a batch, %s, that has one byte changed ends what is decoded, and is named by its offset',
  async (_, compression) => {
    const [first, second, third] = [await batch(0, 3), await batch(3, 2, { compression }), await batch(5, 1)]
    const inWhatFollowsTheChecksum = fc.integer({ min: 21, max: second.length - 1 })
    await fc.assert(
      fc.asyncProperty(inWhatFollowsTheChecksum, fc.integer({ min: 1, max: 255 }), async (at, bits) => {
        const broken = Buffer.from(second)
        broken[at] = (broken[at] ?? 0) ^ bits
        const undecodable = { offset: 3, reason: 'its checksum does not match its content' }
        expect(await decode(first, broken, third)).toEqual({ offsets: upTo(3), undecodable })
      }),
    )
  },
)

it('a batch that is as it was written but does not say what it should is undecodable too', async () => {
  const compressed = await batch(3, 2)
  compressed.writeInt8(2, 22) // the attributes now say Snappy
  compressed.writeUInt32BE(crc32c(compressed.subarray(21)), 17)
  const { offsets, undecodable } = await decode(await batch(0, 3), compressed)
  expect({ offsets, undecodable }).toEqual({ offsets: upTo(3), undecodable: { offset: 3, reason: expect.any(String) } })
})

it('more records than kafkajs can take from one batch are all there', async () => {
  const count = 200_000
  const { offsets, undecodable } = await decode(await batch(0, count))
  expect([offsets.length, offsets.at(-1), undecodable]).toEqual([count, count - 1, undefined])
})

it('what has no place for a batch is undecodable, not the end', async () => {
  const nothing = Buffer.alloc(100)
  const { offsets, undecodable } = await decode(await batch(0, 1, { compression: 0 }), nothing)
  expect([offsets, undecodable?.offset]).toEqual([[0], 0])
})

it('a fetch decodes no more compressed batches than fit its bound, and leaves the rest for the next one', async () => {
  registerCodecs()
  const value = Buffer.alloc(15_000)
  const thirtyMiB = await Promise.all([0, 1, 2, 3].map((i) => batch(2000 * i, 2000, { value })))
  const plain = await batch(6000, 1, { compression: 0 })
  expect((await decode(...thirtyMiB)).offsets).toEqual(upTo(6000))
  expect((await decode(...thirtyMiB.slice(0, 3), plain)).offsets).toEqual(upTo(6001))
})

it('what is cut of long values counts too', async () => {
  registerCodecs()
  const value = Buffer.alloc(40_000_000)
  const batches = await Promise.all([0, 1, 2].map((offset) => batch(offset, 1, { value })))
  expect((await decode(...batches)).offsets).toEqual([0, 1])
})

it('a batch that decodes to more than the bound is left out', async () => {
  registerCodecs()
  const bomb = await batch(1, 5000, { value: Buffer.alloc(15_000) })
  expect(await decode(await batch(0, 1), bomb, await batch(5001, 1, { compression: 0 }))).toEqual({
    offsets: [0, 5000, 5001],
    undecodable: undefined,
  })
})
