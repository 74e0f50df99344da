import { promisify } from 'node:util'
import { gunzip, zstdDecompress } from 'node:zlib'
import kafkajs from 'kafkajs'
import snappy from 'snappyjs'

// Node does not detect this name in the CommonJS module.
const { CompressionCodecs, CompressionTypes } = kafkajs

type Decompress = (bytes: Buffer) => Promise<Buffer>
interface Limit {
  readonly maxOutputLength: number
}

/** How many bytes the records of one batch may take once they are decoded: more than any producer puts into one. */
export const decodedBytesMax = 64 * 1024 * 1024

/** Such a batch is meant to exhaust memory. */
export class TooLargeError extends Error {
  override readonly name = 'TooLargeError'

  constructor() {
    super(`it decodes to more than ${decodedBytesMax / 1024 ** 2} MiB`)
  }
}

/**
 * Makes kafkajs read every codec of Kafka: producers choose one, and so can a topic or a broker. This service itself
 * does not compress. Beyond the limit they throw TooLargeError.
 */
export function registerCodecs(maxOutputLength = decodedBytesMax): void {
  const within = (decompress: (bytes: Buffer, limit: Limit) => Promise<Buffer>): Decompress => {
    return (bytes) =>
      decompress(bytes, { maxOutputLength }).catch((error) => {
        throw error.code === 'ERR_BUFFER_TOO_LARGE' ? new TooLargeError() : error
      })
  }
  register(CompressionTypes.GZIP, within(promisify<Buffer, Limit, Buffer>(gunzip)))
  register(CompressionTypes.Snappy, async (bytes) => decompressSnappy(bytes, maxOutputLength))
  register(CompressionTypes.LZ4, (bytes) => decompressLz4(bytes, maxOutputLength))
  register(CompressionTypes.ZSTD, within(promisify<Buffer, Limit, Buffer>(zstdDecompress)))
}

function register(type: keyof typeof CompressionCodecs, decompress: Decompress): void {
  const known = CompressionCodecs[type]
  CompressionCodecs[type] = () => ({ ...(type === CompressionTypes.GZIP && known()), decompress })
}

/**
 * Java clients and brokers frame Snappy: this magic, two versions (int32), then blocks, each preceded by its length
 * (int32).
 */
const snappyFrameMagic = Buffer.from('\x82SNAPPY\0', 'latin1')
const snappyFrameHeaderBytes = 16
const int32Bytes = 4

function decompressSnappy(bytes: Buffer, maxOutputLength: number): Buffer {
  if (!bytes.subarray(0, snappyFrameMagic.length).equals(snappyFrameMagic)) return uncompress(bytes, maxOutputLength)
  const blocks: Buffer[] = []
  let left = maxOutputLength
  for (let at = snappyFrameHeaderBytes; at < bytes.length; ) {
    const start = at + int32Bytes
    at = start + bytes.readUInt32BE(at)
    const block = uncompress(bytes.subarray(start, at), left)
    blocks.push(block)
    left -= block.length
  }
  return Buffer.concat(blocks)
}

function uncompress(block: Buffer, left: number): Buffer {
  try {
    return snappy.uncompress(block, left)
  } catch (error) {
    throw String(error).includes('too big') ? new TooLargeError() : error
  }
}

async function decompressLz4(frame: Buffer, maxOutputLength: number): Promise<Buffer> {
  if (lz4SizeMax(frame) > maxOutputLength) throw new TooLargeError()
  const { decompressFrame } = await import('lz4-napi') // a native module, loaded only when needed
  return await decompressFrame(frame)
}

/**
 * No decompressed block of an LZ4 frame is larger than its header says, so the number of blocks bounds the total size.
 */
function lz4SizeMax(frame: Buffer): number {
  const [flags, blockMax] = [frame.readUInt8(4), 2 ** (8 + 2 * (frame.readUInt8(5) >> 4))]
  const [contentSizeBytes, dictionaryBytes] = [flags & 0x08 ? 8 : 0, flags & 0x01 ? 4 : 0]
  const blockChecksumBytes = flags & 0x10 ? 4 : 0
  let blocks = 0
  for (let at = 7 + contentSizeBytes + dictionaryBytes; at + int32Bytes <= frame.length; blocks++) {
    const size = frame.readUInt32LE(at) & 0x7fffffff // its highest bit says that the block is not compressed
    if (size === 0) break
    at += int32Bytes + size + blockChecksumBytes
  }
  return blocks * blockMax
}
