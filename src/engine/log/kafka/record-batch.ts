import type { KafkaMessage } from 'kafkajs'
import { recordValueMax } from '../record-codec.ts'
import { decodedBytesMax, TooLargeError } from './codecs.ts'

/** A record, or what stands in its place, as the rest of kafkajs takes it. */
export interface FetchedMessage {
  readonly offset: string
  readonly key: Buffer | null
  /** Cut behind `recordValueMax`, so that a longer one is still recognized. */
  readonly value: Buffer | null
  /** Whether it is no record of the log: the marker of a transaction's end, or part of an aborted one. */
  isControlRecord: boolean
  readonly batchContext: BatchContext
  /** Why the batch that this stands for was left out. */
  readonly tooLarge?: string
}

export interface BatchContext {
  readonly partitionLeaderEpoch: number | undefined
  readonly producerId: string
  readonly inTransaction: boolean
}

type Decompress = (bytes: Buffer) => Promise<Buffer>

// The header of a batch: Kafka protocol, message format 2.
const leaderEpochAt = 12
const attributesAt = 21
const lastOffsetDeltaAt = 23
const producerIdAt = 43
const countAt = 57
const headerBytes = 61
const codecMask = 0x07
const transactionalFlag = 0x10
const controlFlag = 0x20

/** About what a record takes in memory besides its bytes. */
export const recordBytes = 200

export function isCompressed(batch: Buffer): boolean {
  return (batch.readInt16BE(attributesAt) & codecMask) !== 0
}

/**
 * The records of a batch. Instead of kafkajs's own decoder, which takes memory and time without bounds: for values that
 * nobody reads, for headers, and for as many records as a batch claims to have. A batch that decodes to more than
 * `decodedBytesMax` is left out: one empty record stands for it at its last offset.
 */
export async function decodeRecordBatch(
  batch: Buffer,
  decompress: Decompress | undefined,
  bytesMax = decodedBytesMax,
): Promise<FetchedMessage[]> {
  const attributes = batch.readInt16BE(attributesAt)
  const context: BatchContext = {
    partitionLeaderEpoch: batch.readInt32BE(leaderEpochAt),
    producerId: String(batch.readBigInt64BE(producerIdAt)),
    inTransaction: (attributes & transactionalFlag) !== 0,
  }
  const firstOffset = batch.readBigInt64BE(0)
  const isControlRecord = (attributes & controlFlag) !== 0
  const encoded = batch.subarray(headerBytes)
  try {
    const count = batch.readInt32BE(countAt)
    if (count * recordBytes > bytesMax) throw new TooLargeError()
    const records = decompress === undefined ? encoded : await decompress(encoded)
    if (records.length + count * recordBytes > bytesMax) throw new TooLargeError()
    return decodeRecords(records, count).map(({ offsetDelta, key, value }) => {
      return { offset: String(firstOffset + BigInt(offsetDelta)), key, value, isControlRecord, batchContext: context }
    })
  } catch (error) {
    if (!(error instanceof TooLargeError)) throw error
    const offset = String(firstOffset + BigInt(batch.readInt32BE(lastOffsetDeltaAt)))
    return [{ offset, key: null, value: null, isControlRecord, batchContext: context, tooLarge: error.message }]
  }
}

interface DecodedRecord extends Pick<KafkaMessage, 'key' | 'value'> {
  readonly offsetDelta: number
}

function decodeRecords(bytes: Buffer, count: number): DecodedRecord[] {
  const records: DecodedRecord[] = []
  const cursor = new Cursor(bytes)
  for (let i = 0; i < count; i++) {
    const end = cursor.varint() + cursor.at
    cursor.at++ // attributes, which say nothing
    cursor.varint64() // its time, which nobody asks for
    const offsetDelta = cursor.varint()
    const key = cursor.bytes()
    const value = cursor.bytes()
    if (end < cursor.at || end > bytes.length) throw new RangeError('a record ends elsewhere than it says')
    cursor.at = end // behind the headers, which nobody asks for
    records.push({ offsetDelta, key, value: cut(value) })
  }
  return records
}

/** As a copy: a part of the whole would keep the whole in memory. */
export function cut(value: Buffer | null): Buffer | null {
  return value === null || value.length <= recordValueMax ? value : Buffer.from(value.subarray(0, recordValueMax + 1))
}

const varintBytesMax = 5
const varint64BytesMax = 10

class Cursor {
  at = 0
  readonly #bytes: Buffer

  constructor(bytes: Buffer) {
    this.#bytes = bytes
  }

  varint(): number {
    let zigzag = 0
    for (let i = 0; i < varintBytesMax; i++) {
      const byte = this.#next()
      zigzag |= (byte & 0x7f) << (7 * i)
      if (byte < 0x80) return (zigzag >>> 1) ^ -(zigzag & 1)
    }
    throw new RangeError('a number has more bytes than it may have')
  }

  varint64(): void {
    for (let i = 0; i < varint64BytesMax; i++) if (this.#next() < 0x80) return
    throw new RangeError('a number has more bytes than it may have')
  }

  /** Null if their length is -1. */
  bytes(): Buffer | null {
    const length = this.varint()
    if (length === -1) return null
    const end = this.at + length
    if (length < 0 || end > this.#bytes.length) throw new RangeError('a record is longer than its batch')
    const bytes = this.#bytes.subarray(this.at, end)
    this.at = end
    return bytes
  }

  #next(): number {
    const byte = this.#bytes[this.at++]
    if (byte === undefined) throw new RangeError('a record is longer than its batch')
    return byte
  }
}
