import { createRequire } from 'node:module'
import type { KafkaMessage } from 'kafkajs'
import type { Offset } from '../event-log.ts'
import { toOffset } from './kafka-client.ts'

/** Stands in the place of a batch that cannot be decoded, and of all that a fetch brought behind it. */
type Marker = KafkaMessage & { readonly undecodable: { readonly offset: string; readonly reason: string } }

/** The messages of one partition as kafkajs hands them on: the last one may be a marker. */
export interface Decoded<Message> {
  readonly messages: readonly Message[]
  /** The batch that ended them, if one did. */
  readonly undecodable: { readonly offset: Offset; readonly reason: string } | undefined
}

interface Decoder {
  offset: number
  readBytes(): Buffer
}
type DecodeMessages = (decoder: Decoder) => Promise<KafkaMessage[]>
interface Internals {
  readonly Decoder: new (bytes: Buffer) => Decoder
  readonly decodeBatch: (decoder: Decoder) => Promise<{ records: KafkaMessage[] }>
  /** Of the formats before Kafka 0.11. */
  readonly decodeMessageSet: (decoder: Decoder, size: number) => Promise<KafkaMessage[]>
}

// Both formats begin with an offset (int64) and the length of what follows (int32), and have the same place for the magic.
const lengthAt = 8
const prefixBytes = 12
const magicAt = 16
const batchMagic = 2
/** No fetch asks for an offset beyond it, so kafkajs does not drop the marker as one that was not asked for. */
const lastOffset = String(2n ** 63n - 1n)

/**
 * kafkajs fails a fetch as a whole when it cannot decode one batch of one partition, without a word on which: no other
 * partition is read either, for ever. From here on such a fetch gives what is before that batch, and a marker.
 * To be called before the first fetch.
 */
export function isolateUndecodableBatches(): void {
  const require = createRequire(import.meta.url)
  const folder = 'kafkajs/src/protocol'
  const path = require.resolve(`${folder}/requests/fetch/v4/decodeMessages`)
  const decode: DecodeMessages = require(path)
  const internals: Internals = {
    Decoder: require(`${folder}/decoder`),
    decodeBatch: require(`${folder}/recordBatch/v0/decoder`),
    decodeMessageSet: require(`${folder}/messageSet/decoder`),
  }
  const module = require.cache[path]
  if (module === undefined) throw new Error(`${path} is not a module of its own`)
  const decodeOrIsolate: DecodeMessages = async (decoder) => {
    const start = decoder.offset
    try {
      return await decode(decoder)
    } catch {
      decoder.offset = start
      return await decodeOneByOne(internals, decoder.readBytes())
    }
  }
  module.exports = decodeOrIsolate // every version of a fetch response takes it from there when it is first needed
}

/** Parts what kafkajs decoded from the marker. */
export function withoutMarker<Message>(decoded: readonly Message[]): Decoded<Message> {
  const { undecodable } = (decoded.at(-1) ?? {}) as Partial<Marker>
  if (undecodable === undefined) return { messages: decoded, undecodable }
  return { messages: decoded.slice(0, -1), undecodable: { ...undecodable, offset: toOffset(undecodable.offset) } }
}

async function decodeOneByOne(internals: Internals, bytes: Buffer): Promise<KafkaMessage[]> {
  const messages: KafkaMessage[] = []
  for (let at = 0; at + prefixBytes <= bytes.length; ) {
    const end = at + prefixBytes + bytes.readInt32BE(at + lengthAt)
    if (end > bytes.length) break // a fetch ends where its limit is
    try {
      // One after the other: kafkajs spreads them into the arguments of a call, which fails beyond some 100,000.
      for (const message of await decodeOne(internals, bytes.subarray(at, end))) messages.push(message)
    } catch (error) {
      messages.push(marker(bytes.readBigInt64BE(at), error))
      break
    }
    at = end
  }
  return messages
}

async function decodeOne({ Decoder, decodeBatch, decodeMessageSet }: Internals, bytes: Buffer) {
  const magic = bytes[magicAt]
  if (magic === undefined) throw new Error('it is too short')
  const decoder = new Decoder(bytes)
  return magic === batchMagic ? (await decodeBatch(decoder)).records : await decodeMessageSet(decoder, bytes.length)
}

function marker(offset: bigint, error: unknown): Marker {
  const reason = error instanceof Error ? error.message : String(error)
  const undecodable = { offset: String(offset), reason }
  const likeOthers = { attributes: 0, timestamp: '0', headers: {}, batchContext: { inTransaction: false } }
  return { ...likeOthers, key: null, value: null, offset: lastOffset, undecodable }
}
