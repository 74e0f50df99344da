import { createRequire } from 'node:module'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { isolateUndecodableBatches, withoutMarker } from '../../src/event-log/kafka/batch-decoding.ts'

const require = createRequire(import.meta.url)
isolateUndecodableBatches()
const Decoder = require('kafkajs/src/protocol/decoder')
const decodeMessages = require('kafkajs/src/protocol/requests/fetch/v4/decodeMessages')
const { RecordBatch } = require('kafkajs/src/protocol/recordBatch/v0')
const Record = require('kafkajs/src/protocol/recordBatch/record/v0')
const headerBytes = 61
const anyText = expect.any(String)

/** A batch as it is on the wire. */
async function batch(firstOffset: number, count: number, { compression = 1 } = {}): Promise<Buffer> {
  const value = Buffer.from('value')
  const records = Array.from({ length: count }, (_, offsetDelta) => Record({ offsetDelta, key: null, value }))
  const encoded = await RecordBatch({ firstOffset, lastOffsetDelta: count - 1, records, compression })
  return encoded.buffer
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

it('a batch whose compressed records are broken ends what is decoded, and is named by its offset', async () => {
  const [first, second, third] = [await batch(0, 3), await batch(3, 2), await batch(5, 1)]
  const inAnyPlace = fc.nat(second.length - headerBytes - 1)
  await fc.assert(
    fc.asyncProperty(inAnyPlace, fc.integer({ min: 1, max: 255 }), async (at, bits) => {
      const broken = Buffer.from(second)
      broken[headerBytes + at] = (broken[headerBytes + at] ?? 0) ^ bits
      const { offsets, undecodable } = await decode(first, broken, third)
      if (undecodable === undefined)
        expect(offsets).toEqual(upTo(6)) // a byte that gzip does not look at
      else expect({ offsets, undecodable }).toEqual({ offsets: upTo(3), undecodable: { offset: 3, reason: anyText } })
    }),
  )
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
