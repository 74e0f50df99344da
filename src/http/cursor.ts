import type { PetStatus } from '../domain/pet.ts'
import { ServiceError } from '../lib/errors.ts'
import { seal, unseal } from './sealed-text.ts'

/** Where a page begins, as the opaque text in its link: `version:last id:status filter`, sealed. */
const version = 1
const form = new RegExp(`^${version}:([1-9]\\d{0,15}):([a-z]*)$`)

/** The cursor of the page that begins behind `lastId` in the list filtered by `status`. */
export function writeCursor(lastId: number, status: PetStatus | undefined): string {
  return seal(`${version}:${lastId}:${status ?? ''}`)
}

/** The last id of the page before. Throws ServiceError invalid_cursor unless made by `writeCursor` for `status`. */
export function readCursor(cursor: string, status: PetStatus | undefined): number {
  const [, lastId, filter] = form.exec(unseal(cursor) ?? '') ?? []
  const id = Number(lastId)
  if (!Number.isSafeInteger(id)) {
    throw new ServiceError('invalid_cursor', 'query: cursor is not one that a list gave out')
  }
  if (filter !== (status ?? '')) {
    throw new ServiceError('invalid_cursor', 'query: cursor belongs to a list with another status filter')
  }
  return id
}
