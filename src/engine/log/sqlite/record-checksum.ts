import { crc32 } from 'node:zlib'

/** Key, value and headers as they are stored: in one piece, with the length of each in bytes, or null where there is none. */
export interface RecordContent {
  readonly keyLength: number | null
  readonly valueLength: number | null
  readonly headersLength: number | null
  readonly bytes: Uint8Array
}

/** What the first record has as the checksum before it. */
export const firstSeed = 0

const headBytes = 20
const head = Buffer.alloc(headBytes)
const fields = new DataView(head.buffer, head.byteOffset, headBytes)

/**
 * The CRC-32 of a record's offset, key, value and headers, continued from the checksum of the record before it. So it
 * proves that the records up to this one are those that were appended, in number, order and content, as far as 32 bits
 * can. It finds accidents and not forgers: whoever can write to the file can compute it too.
 */
export function checksumOf(
  before: number,
  offset: number,
  { keyLength, valueLength, headersLength, bytes }: RecordContent,
): number {
  // The lengths come first, so that no two records share their bytes.
  fields.setFloat64(0, offset, true)
  fields.setInt32(8, keyLength ?? -1, true)
  fields.setInt32(12, valueLength ?? -1, true)
  fields.setInt32(16, headersLength ?? -1, true)
  return crc32(bytes, crc32(head, before))
}
