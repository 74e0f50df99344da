import { crc32 } from 'node:zlib'
import { ServiceError } from '../errors.ts'
import type { PetStatus } from '../pets/pet.ts'

/**
 * Where a page begins, as the opaque text in its link: base64url of `version:last id:status filter:checksum`.
 * The checksum tells a damaged cursor; it is no secret, as a cursor gives access to nothing.
 */
const version = 1
const form = new RegExp(`^(${version}:([1-9]\\d{0,15}):([a-z]*)):([0-9a-f]{1,8})$`)

/** The cursor of the page that begins behind `lastId` in the list filtered by `status`. */
export function writeCursor(lastId: number, status: PetStatus | undefined): string {
  const content = `${version}:${lastId}:${status ?? ''}`
  return Buffer.from(`${content}:${checksum(content)}`).toString('base64url')
}

/** The last id of the page before. Throws ServiceError invalid_cursor unless made by `writeCursor` for `status`. */
export function readCursor(cursor: string, status: PetStatus | undefined): number {
  const text = Buffer.from(cursor, 'base64url')
  const [, content = '', lastId, filter, sum] = form.exec(text.toString('latin1')) ?? []
  const id = Number(lastId)
  // Decoding ignores what is not base64url, hence the way back.
  if (sum !== checksum(content) || !Number.isSafeInteger(id) || text.toString('base64url') !== cursor) {
    throw new ServiceError('invalid_cursor', 'query: cursor is not one that a list gave out')
  }
  if (filter !== (status ?? '')) {
    throw new ServiceError('invalid_cursor', 'query: cursor belongs to a list with another status filter')
  }
  return id
}

function checksum(content: string): string {
  return crc32(content).toString(16)
}
