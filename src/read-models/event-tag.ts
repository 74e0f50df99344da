import { hash } from 'node:crypto'

// Versions 4 and 7 (RFC 9562) have nothing but chance in the last 48 bits. Hashing costs as much as parsing an event.
const randomUuid = /^[\da-f]{8}-[\da-f]{4}-[47][\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/

/**
 * A short stand-in for an event id: 12 characters that tell two events about the same document apart, by chance of
 * 48 bits (a random UUID) or 72 bits (the SHA-1 of any other id, in base64url). Not for secrets.
 */
export function eventTag(eventId: string): string {
  if (randomUuid.test(eventId)) return eventId.slice(-eventTagLength)
  return hash('sha1', eventId, 'base64url').slice(0, eventTagLength)
}

/** Fixed, so that a store can keep a document and its tag in one string. */
export const eventTagLength = 12
