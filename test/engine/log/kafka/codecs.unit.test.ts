import { gzipSync, zstdCompressSync } from 'node:zlib'
import fc from 'fast-check'
import kafkajs from 'kafkajs'
import { compressFrameSync } from 'lz4-napi'
import snappy from 'snappyjs'
import { beforeEach, describe, expect, it } from 'vitest'
import { registerCodecs, TooLargeError } from '../../../../src/engine/log/kafka/codecs.ts'

const { GZIP: gzip, Snappy: snappyType, LZ4: lz4, ZSTD: zstd } = kafkajs.CompressionTypes
const types = { gzip, snappy: snappyType, lz4, zstd } as const
type Name = keyof typeof types

const [mebibyte, most] = [1024 * 1024, 4 * 1024 * 1024]
beforeEach(() => registerCodecs(most))

function decompress(name: Name, bytes: Buffer): Promise<Buffer> {
  return kafkajs.CompressionCodecs[types[name]]().decompress(bytes)
}

const seat = '{"id":7,"name":"Zoë"}'

/** Twenty seats as the Java client compresses them; Snappy also raw, and LZ4 with all that a frame may have. */
const golden: readonly (readonly [codec: Name, how: string, base64: string])[] = [
  ['gzip', 'Java', 'H4sIAAAAAAAA/6tWykxRsjLXUcpLzE1VslKKyj+8Wqm2elR0kIsCAD7lS0K4AQAA'],
  ['snappy', 'Java', 'glNOQVBQWQAAAAABAAAAAQAAAC64A1R7ImlkIjo3LCJuYW1lIjoiWm/DqyJ9/hYA/hYA/hYA/hYA/hYA/hYAhhYA'],
  ['snappy', 'librdkafka', 'uANUeyJpZCI6NywibmFtZSI6Ilpvw6siff4WAP4WAP4WAP4WAP4WAP4WAIYWAA=='],
  ['lz4', 'Java', 'BCJNGGBAgiIAAAD/B3siaWQiOjcsIm5hbWUiOiJab8OrIn0WAP+LUG/DqyJ9AAAAAA=='],
  ['lz4', 'its own tool', 'BCJNGHxAuAEAAAAAAADMIgAAAP8HeyJpZCI6NywibmFtZSI6Ilpvw6sifRYA/4tQb8OrIn0Amy7OAAAAAD77gpE='],
  ['zstd', 'Java', 'KLUv/QBY7AAAsHsiaWQiOjcsIm5hbWUiOiJab8OrIn0BAD5TnU0BAAA='],
]

describe.each(golden)('%s as %s writes it', (name, _how, base64) => {
  const bytes = Buffer.from(base64, 'base64')

  it('is read', async () => {
    expect(String(await decompress(name, bytes))).toBe(seat.repeat(20))
  })

  it('is refused where it is cut off', async () => {
    await expect(decompress(name, bytes.subarray(0, -10))).rejects.toThrow()
  })
})

/** As the Java client does, which writes blocks of 32 KiB. */
function framedSnappy(bytes: Buffer<ArrayBuffer>): Buffer {
  const header = Buffer.from('\x82SNAPPY\0\0\0\0\x01\0\0\0\x01', 'latin1')
  const blocks = [header]
  for (let at = 0; at < bytes.length; at += 32_768) {
    const block = snappy.compress(bytes.subarray(at, at + 32_768))
    const length = Buffer.alloc(4)
    length.writeUInt32BE(block.length)
    blocks.push(length, block)
  }
  return Buffer.concat(blocks)
}

const compressors: readonly (readonly [codec: Name, how: string, compress: (bytes: Buffer<ArrayBuffer>) => Buffer])[] =
  [
    ['gzip', '', (bytes) => gzipSync(bytes)],
    ['snappy', 'raw', (bytes) => snappy.compress(bytes)],
    ['snappy', 'framed', framedSnappy],
    ['lz4', '', (bytes) => compressFrameSync(bytes)],
    ['lz4', 'with checksums', (bytes) => compressFrameSync(bytes, { blockChecksums: true, contentChecksum: true })],
    ['zstd', '', (bytes) => zstdCompressSync(bytes)],
  ]

describe.each(compressors)('%s %s', (name, _how, compress) => {
  it('restores the compressed text', async () => {
    const anyBytes = fc.tuple(fc.uint8Array({ maxLength: 500 }), fc.integer({ min: 1, max: 400 }))
    await fc.assert(
      fc.asyncProperty(anyBytes, async ([part, times]) => {
        const bytes = Buffer.concat(Array.from({ length: times }, () => part))
        const within = Buffer.concat([Buffer.from('before'), compress(bytes)]).subarray('before'.length)
        expect((await decompress(name, within)).equals(bytes)).toBe(true)
      }),
      { numRuns: 50 },
    )
  })

  it('is refused beyond the limit', async () => {
    expect((await decompress(name, compress(Buffer.alloc(most)))).length).toBe(most)
    await expect(decompress(name, compress(Buffer.alloc(most + 1)))).rejects.toThrow(TooLargeError)
  })
})

it('the limit is 64 MiB', async () => {
  registerCodecs()
  const bytes = Buffer.alloc(64 * mebibyte + 1)
  expect(await decompress('zstd', zstdCompressSync(bytes.subarray(1)))).toHaveLength(64 * mebibyte)
  await expect(decompress('zstd', zstdCompressSync(bytes))).rejects.toThrow('more than 64 MiB')
})

it('lz4 has to be a frame', async () => {
  await expect(decompress('lz4', Buffer.from('neither a frame nor anything else'))).rejects.toThrow()
  await expect(decompress('lz4', Buffer.alloc(0))).rejects.toThrow()
})
