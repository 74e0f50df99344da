import { ServiceError } from '../lib/errors.ts'
import { seal, unseal } from './sealed-text.ts'

/**
 * Where a page begins, as the opaque text in its link: `version:last id:list`, sealed. `list` names the resource and the
 * filter; that of pets, the first there was, is the status alone.
 */
const version = 1
const form = new RegExp(`^${version}:([1-9]\\d{0,15}):([a-z:]*)$`)

/** The cursor of the page of `list` that begins behind `lastId`. */
export function writeCursor(lastId: number, list = ''): string {
  return seal(`${version}:${lastId}:${list}`)
}

/** The last id of the page before. Throws ServiceError invalid_cursor unless made by `writeCursor` for `list`. */
export function readCursor(cursor: string, list = ''): number {
  const [, lastId, madeFor] = form.exec(unseal(cursor) ?? '') ?? []
  const id = Number(lastId)
  if (!Number.isSafeInteger(id)) {
    throw new ServiceError('invalid_cursor', 'query: cursor is not one that a list gave out')
  }
  if (madeFor !== list) {
    throw new ServiceError('invalid_cursor', 'query: cursor belongs to another list, or to another status filter')
  }
  return id
}
