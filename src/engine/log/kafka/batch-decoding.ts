import type { KafkaMessage } from 'kafkajs'
import type { Offset } from '../event-log.ts'
import { type AbortedTransaction, hideAborted } from './aborted-records.ts'
import { decodedBytesMax } from './codecs.ts'
import { toOffset } from './kafka-client.ts'
import { moduleOfKafkajs, nativeCrc32c, replaceInKafkajs } from './kafkajs-modules.ts'
import { cut, decodeRecordBatch, type FetchedMessage, isCompressed, recordBytes } from './record-batch.ts'

/** Takes the place of a batch that cannot be decoded, and of everything after it in the fetch. */
type Marker = FetchedMessage & { readonly undecodable: { readonly offset: string; readonly reason: string } }

/** The messages of one partition, without the marker. */
interface DecodedMessages<Message> {
  readonly messages: readonly Message[]
  /** The batch that could not be decoded, if there was one. */
  readonly undecodable: { readonly offset: Offset; readonly reason: string } | undefined
}

/** Reads a response from its beginning to its end. */
interface Decoder {
  /** Bytes that their length precedes. */
  readBytes(): Buffer | null
}
type Decompress = (bytes: Buffer) => Promise<Buffer>
interface DecodingOptions {
  readonly Decoder: new (bytes: Buffer) => Decoder
  /** Formats before Kafka 0.11, which hold one message or a compressed set of them. */
  readonly decodeMessageSet: (decoder: Decoder, size: number) => Promise<KafkaMessage[]>
  /** Null for what is not compressed. Throws for a codec that does not exist. */
  readonly lookupCodecByAttributes: (attributes: number) => { readonly decompress: Decompress } | null
  readonly crc32c: (bytes: Buffer) => number
}
interface FetchResponse {
  readonly responses: readonly {
    readonly partitions: readonly { abortedTransactions?: AbortedTransaction[]; readonly messages: FetchedMessage[] }[]
  }[]
}
interface ResponseModule {
  decode: (bytes: Buffer) => Promise<FetchResponse>
}

/** How much the compressed batches of one fetch may still decode to. */
interface Budget {
  bytes: number
}

// All formats begin with an offset (int64) and the length of the rest (int32), and have the magic byte in the same
// place.
const lengthAt = 8
const prefixBytes = 12
const magicAt = 16
const batchMagic = 2
const checksumAt = 17
const checksummedFrom = 21
const attributesAt = 21
/** Those that a broker may choose, and whose responses list aborted transactions. */
const fetchVersions = [4, 5, 6, 7, 8, 9, 10, 11]
/**
 * No fetch requests an offset beyond this one, so kafkajs does not drop the marker as a record before the requested
 * offset.
 */
const lastOffset = String(2n ** 63n - 1n)

/**
 * Decodes what kafkajs fetches in its place, so that whoever reads the log sees the same records of it (decision 0026):
 * - If kafkajs cannot decode one batch of one partition, it fails the whole fetch without saying which batch: no other
 *   partition is then read either, forever. Here such a fetch returns what is before the batch, and a marker.
 * - Checksums are verified, which kafkajs does not.
 * - A fetch decodes to bounded memory, whatever it holds.
 * - Records of aborted transactions are none, however transactions interleave.
 * Call it before the first fetch.
 */
export function decodeFetches(): void {
  const options: DecodingOptions = {
    Decoder: moduleOfKafkajs('protocol/decoder'),
    decodeMessageSet: moduleOfKafkajs('protocol/messageSet/decoder'),
    lookupCodecByAttributes: moduleOfKafkajs('protocol/message/compression').lookupCodecByAttributes,
    crc32c: nativeCrc32c(),
  }
  // One decoder reads a whole response.
  const budgets = new WeakMap<Decoder, Budget>()
  replaceInKafkajs('protocol/requests/fetch/v4/decodeMessages', (decoder: Decoder) => {
    const budget = budgets.get(decoder) ?? { bytes: decodedBytesMax }
    budgets.set(decoder, budget)
    return decodeMessages(options, decoder.readBytes() ?? Buffer.alloc(0), budget)
  })
  for (const version of fetchVersions) hideAbortedIn(moduleOfKafkajs(`protocol/requests/fetch/v${version}/response`))
}

function hideAbortedIn(response: ResponseModule): void {
  const { decode } = response
  response.decode = async (bytes) => {
    const decoded = await decode(bytes)
    for (const partition of decoded.responses.flatMap(({ partitions }) => partitions)) {
      hideAborted(partition.messages, partition.abortedTransactions ?? [])
      partition.abortedTransactions = []
    }
    return decoded
  }
}

/** Separates the messages of a fetch from the marker. */
export function withoutMarker<Message>(decoded: readonly Message[]): DecodedMessages<Message> {
  const { undecodable } = (decoded.at(-1) ?? {}) as Partial<Marker>
  if (undecodable === undefined) return { messages: decoded, undecodable }
  return { messages: decoded.slice(0, -1), undecodable: { ...undecodable, offset: toOffset(undecodable.offset) } }
}

async function decodeMessages(options: DecodingOptions, bytes: Buffer, budget: Budget): Promise<FetchedMessage[]> {
  const messages: FetchedMessage[] = []
  for (let at = 0; at + prefixBytes <= bytes.length; ) {
    const end = at + prefixBytes + bytes.readInt32BE(at + lengthAt)
    if (end > bytes.length) break // a fetch may end within a batch
    const batch = bytes.subarray(at, end)
    try {
      if (budget.bytes <= 0 && needsBudget(batch)) break // it comes with the next fetch
      const decoded = await decodeBatch(options, batch, budget)
      if (needsBudget(batch)) budget.bytes -= sizeOf(decoded)
      // Not spread into a call of `push`, which fails beyond some 100,000 arguments.
      for (const message of decoded) messages.push(message)
    } catch (error) {
      messages.push(marker(bytes.readBigInt64BE(at), error))
      break
    }
    at = end
  }
  return messages
}

/** Anything else takes no more memory than the fetch itself. */
function needsBudget(batch: Buffer): boolean {
  return batch.readInt8(magicAt) !== batchMagic || isCompressed(batch)
}

/** Without the bytes of the records themselves. */
function sizeOf(messages: readonly FetchedMessage[]): number {
  return messages.reduce((sum, { tooLarge }) => sum + (tooLarge === undefined ? recordBytes : decodedBytesMax), 0)
}

async function decodeBatch(options: DecodingOptions, batch: Buffer, budget: Budget): Promise<FetchedMessage[]> {
  if (batch.readInt8(magicAt) !== batchMagic) return await decodeMessageSet(options, batch)
  if (batch.readUInt32BE(checksumAt) !== options.crc32c(batch.subarray(checksummedFrom))) {
    throw new Error('its checksum does not match its content')
  }
  const codec = options.lookupCodecByAttributes(batch.readInt16BE(attributesAt))
  if (codec === null) return await decodeRecordBatch(batch, undefined)
  return await decodeRecordBatch(batch, async (compressed) => {
    const records = await codec.decompress(compressed)
    budget.bytes -= records.length // before long values are cut
    return records
  })
}

/** What such formats cannot say is as in a batch that says nothing of it. */
async function decodeMessageSet(
  { Decoder, decodeMessageSet: decode }: DecodingOptions,
  set: Buffer,
): Promise<FetchedMessage[]> {
  const decoded = await decode(new Decoder(set), set.length)
  return decoded.map(({ offset, key, value }) => ({ offset, key, value: cut(value), ...likeOthers }))
}

const likeOthers = {
  isControlRecord: false,
  batchContext: { partitionLeaderEpoch: undefined, producerId: '', inTransaction: false },
}

function marker(offset: bigint, error: unknown): Marker {
  const reason = error instanceof Error ? error.message : String(error)
  const undecodable = { offset: String(offset), reason }
  return { ...likeOthers, key: null, value: null, offset: lastOffset, undecodable }
}
