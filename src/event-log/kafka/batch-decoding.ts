import { createRequire } from 'node:module'
import type { KafkaMessage } from 'kafkajs'
import type { Offset } from '../event-log.ts'
import { toOffset } from './kafka-client.ts'

/** Stands in the place of a batch that cannot be decoded, and of all that a fetch brought behind it. */
type Marker = KafkaMessage & { readonly undecodable: { readonly offset: string; readonly reason: string } }

/** The messages of one partition, without the marker. */
export interface Decoded<Message> {
  readonly messages: readonly Message[]
  /** The batch that ended them, if one did. */
  readonly undecodable: { readonly offset: Offset; readonly reason: string } | undefined
}

interface Decoder {
  /** Behind its length. */
  readBytes(): Buffer | null
}
interface Parts {
  readonly Decoder: new (bytes: Buffer) => Decoder
  readonly decodeBatch: (decoder: Decoder) => Promise<{ records: KafkaMessage[] }>
  /** Of the formats before Kafka 0.11, which hold one message or a compressed set of them. */
  readonly decodeMessageSet: (decoder: Decoder, size: number) => Promise<KafkaMessage[]>
  readonly crc32c: (bytes: Buffer) => number
}

// All formats begin with an offset (int64) and the length of what follows (int32), and have the same place for the magic.
const lengthAt = 8
const prefixBytes = 12
const magicAt = 16
const batchMagic = 2
const checksumAt = 17
const checksummedFrom = 21
/** No fetch asks for an offset beyond it, so kafkajs does not drop the marker as one that was not asked for. */
const lastOffset = String(2n ** 63n - 1n)

/**
 * kafkajs fails a fetch as a whole when it cannot decode one batch of one partition, without a word on which: then no
 * other partition is read either, for ever. From here on such a fetch gives what is before that batch, and a marker. And a
 * batch that is not as it was written, which kafkajs does not look at, is such a batch.
 * To be called before the first fetch.
 */
export function isolateUndecodableBatches(): void {
  const require = createRequire(import.meta.url)
  const folder = 'kafkajs/src/protocol'
  const parts: Parts = {
    Decoder: require(`${folder}/decoder`),
    decodeBatch: require(`${folder}/recordBatch/v0/decoder`),
    decodeMessageSet: require(`${folder}/messageSet/decoder`),
    crc32c: require('@node-rs/crc32').crc32c, // a native module: not for those without Kafka
  }
  const path = require.resolve(`${folder}/requests/fetch/v4/decodeMessages`)
  require(path)
  const module = require.cache[path]
  if (module === undefined) throw new Error(`${path} is not a module of its own`)
  // Every version of a fetch response takes it from there when it is first needed.
  module.exports = (decoder: Decoder) => decodeMessages(parts, decoder.readBytes() ?? Buffer.alloc(0))
}

/** Parts what a fetch gave from the marker. */
export function withoutMarker<Message>(decoded: readonly Message[]): Decoded<Message> {
  const { undecodable } = (decoded.at(-1) ?? {}) as Partial<Marker>
  if (undecodable === undefined) return { messages: decoded, undecodable }
  return { messages: decoded.slice(0, -1), undecodable: { ...undecodable, offset: toOffset(undecodable.offset) } }
}

async function decodeMessages(parts: Parts, bytes: Buffer): Promise<KafkaMessage[]> {
  const messages: KafkaMessage[] = []
  for (let at = 0; at + prefixBytes <= bytes.length; ) {
    const end = at + prefixBytes + bytes.readInt32BE(at + lengthAt)
    if (end > bytes.length) break // a fetch ends where its limit is
    try {
      // Not spread into a call of `push`, which fails beyond some 100,000.
      for (const message of await decodeBatch(parts, bytes.subarray(at, end))) messages.push(message)
    } catch (error) {
      messages.push(marker(bytes.readBigInt64BE(at), error))
      break
    }
    at = end
  }
  return messages
}

async function decodeBatch(parts: Parts, bytes: Buffer): Promise<KafkaMessage[]> {
  const decoder = new parts.Decoder(bytes)
  const magic = bytes.readInt8(magicAt)
  if (magic !== batchMagic) return await parts.decodeMessageSet(decoder, bytes.length)
  if (bytes.readUInt32BE(checksumAt) !== parts.crc32c(bytes.subarray(checksummedFrom))) {
    throw new Error('its checksum is not that of its content')
  }
  return (await parts.decodeBatch(decoder)).records
}

function marker(offset: bigint, error: unknown): Marker {
  const reason = error instanceof Error ? error.message : String(error)
  const undecodable = { offset: String(offset), reason }
  const likeOthers = { attributes: 0, timestamp: '0', headers: {}, batchContext: { inTransaction: false } }
  return { ...likeOthers, key: null, value: null, offset: lastOffset, undecodable }
}
