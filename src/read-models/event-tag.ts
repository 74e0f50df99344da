import { hash } from 'node:crypto'

/** A short stand-in for an event id: 12 characters, 72 bits, of the base64url of its SHA-1. Not for secrets. */
export function eventTag(eventId: string): string {
  return hash('sha1', eventId, 'base64url').slice(0, eventTagLength)
}

/** Fixed, so that a store can keep a document and its tag in one string. */
export const eventTagLength = 12
