import { createRequire } from 'node:module'
import type { KafkaMessage } from 'kafkajs'
import type { Offset } from '../event-log.ts'
import { toOffset } from './kafka-client.ts'

/** Takes the place of a batch that cannot be decoded, and of everything after it in the fetch. */
type Marker = KafkaMessage & { readonly undecodable: { readonly offset: string; readonly reason: string } }

/** The messages of one partition, without the marker. */
interface DecodedMessages<Message> {
  readonly messages: readonly Message[]
  /** The batch that could not be decoded, if there was one. */
  readonly undecodable: { readonly offset: Offset; readonly reason: string } | undefined
}

interface Decoder {
  /** Bytes that their length precedes. */
  readBytes(): Buffer | null
}
interface Parts {
  readonly Decoder: new (bytes: Buffer) => Decoder
  readonly decodeBatch: (decoder: Decoder) => Promise<{ records: KafkaMessage[] }>
  /** Formats before Kafka 0.11, which hold one message or a compressed set of them. */
  readonly decodeMessageSet: (decoder: Decoder, size: number) => Promise<KafkaMessage[]>
  readonly crc32c: (bytes: Buffer) => number
}

// All formats begin with an offset (int64) and the length of the rest (int32), and have the magic byte in the same
// place.
const lengthAt = 8
const prefixBytes = 12
const magicAt = 16
const batchMagic = 2
const checksumAt = 17
const checksummedFrom = 21
/**
 * No fetch requests an offset beyond this one, so kafkajs does not drop the marker as a record before the requested
 * offset.
 */
const lastOffset = String(2n ** 63n - 1n)

/**
 * If kafkajs cannot decode one batch of one partition, it fails the whole fetch without saying which batch: no other
 * partition is then read either, forever. This patch makes such a fetch return what is before the batch, and a marker.
 * It also verifies checksums, which kafkajs does not.
 * Call it before the first fetch.
 */
export function isolateUndecodableBatches(): void {
  const require = createRequire(import.meta.url)
  const folder = 'kafkajs/src/protocol'
  const parts: Parts = {
    Decoder: require(`${folder}/decoder`),
    decodeBatch: require(`${folder}/recordBatch/v0/decoder`),
    decodeMessageSet: require(`${folder}/messageSet/decoder`),
    crc32c: require('@node-rs/crc32').crc32c, // a native module, loaded only with Kafka
  }
  const path = require.resolve(`${folder}/requests/fetch/v4/decodeMessages`)
  require(path)
  const module = require.cache[path]
  if (module === undefined) throw new Error(`${path} is not a separate module`)
  // Every version of a fetch response loads it from there when it is first needed.
  module.exports = (decoder: Decoder) => decodeMessages(parts, decoder.readBytes() ?? Buffer.alloc(0))
}

/** Separates the messages of a fetch from the marker. */
export function withoutMarker<Message>(decoded: readonly Message[]): DecodedMessages<Message> {
  const { undecodable } = (decoded.at(-1) ?? {}) as Partial<Marker>
  if (undecodable === undefined) return { messages: decoded, undecodable }
  return { messages: decoded.slice(0, -1), undecodable: { ...undecodable, offset: toOffset(undecodable.offset) } }
}

async function decodeMessages(parts: Parts, bytes: Buffer): Promise<KafkaMessage[]> {
  const messages: KafkaMessage[] = []
  for (let at = 0; at + prefixBytes <= bytes.length; ) {
    const end = at + prefixBytes + bytes.readInt32BE(at + lengthAt)
    if (end > bytes.length) break // a fetch may end within a batch
    try {
      // Not spread into a call of `push`, which fails beyond some 100,000 arguments.
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
    throw new Error('its checksum does not match its content')
  }
  return (await parts.decodeBatch(decoder)).records
}

function marker(offset: bigint, error: unknown): Marker {
  const reason = error instanceof Error ? error.message : String(error)
  const undecodable = { offset: String(offset), reason }
  const likeOthers = { attributes: 0, timestamp: '0', headers: {}, batchContext: { inTransaction: false } }
  return { ...likeOthers, key: null, value: null, offset: lastOffset, undecodable }
}
