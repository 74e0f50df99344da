import { randomBytes } from 'node:crypto'
import { crc32 } from 'node:zlib'
import { changeKeys, expiryOf, hashKey, type StoredKey } from './key-file.ts'

const checksumLength = 8

export interface IssuedKey extends Pick<StoredKey, 'id' | 'name'> {
  /** Appears nowhere else: only its hash is stored. */
  readonly key: string
  readonly expiresAt: string | undefined
}

export interface NewKey {
  /** The name of the service: the key begins with it. */
  readonly service: string
  readonly name: string
  /** Every scope if omitted. */
  readonly scopes?: readonly string[] | undefined
  readonly expiresAt?: Date | undefined
  /** A user of the operating system. */
  readonly issuedBy?: string | undefined
}

export function issueKey(path: string, key: NewKey, now: Date): IssuedKey {
  const { issued, stored } = makeKey(key, now)
  changeKeys(path, (keys) => [...keys, stored])
  return issued
}

/**
 * Issues another key to the owner of the key `id`, which then ends at `overlapUntil`. Properties that are not given,
 * except the expiry, are copied from the old key. Undefined if there is no key `id`.
 */
export function rotateKey(
  path: string,
  id: string,
  key: Partial<NewKey> & Pick<NewKey, 'service'>,
  { now, overlapUntil }: { readonly now: Date; readonly overlapUntil: Date },
): IssuedKey | undefined {
  let issued: IssuedKey | undefined
  changeKeys(path, (keys) => {
    const before = keys.find((each) => each.id === id)
    if (before === undefined) return keys
    const made = makeKey({ name: before.name, scopes: before.scopes, ...key }, now)
    issued = made.issued
    const ending = { ...before, expiresAt: earliest(before, overlapUntil) }
    const stored = { ...made.stored, owner: before.owner ?? id }
    return [...keys.map((each) => (each.id === id ? ending : each)), stored]
  })
  return issued
}

/** Not by text: a year beyond 9999 has a sign before it. */
function earliest(key: StoredKey, other: Date): string {
  return key.expiresAt !== undefined && expiryOf(key) < other.getTime() ? key.expiresAt : other.toISOString()
}

function makeKey({ service, name, scopes, expiresAt, issuedBy }: NewKey, now: Date) {
  const key = newSecret(service)
  const stored: StoredKey = {
    id: randomBytes(4).toString('hex'),
    name,
    sha256: hashKey(key),
    createdAt: now.toISOString(),
    ...(scopes === undefined ? {} : { scopes: [...scopes] }),
    ...(expiresAt === undefined ? {} : { expiresAt: expiresAt.toISOString() }),
    ...(issuedBy === undefined ? {} : { issuedBy }),
  }
  return { issued: { id: stored.id, name, key, expiresAt: stored.expiresAt }, stored }
}

/**
 * 256 random bits between a prefix and a checksum, for scanners of leaked secrets. A text is a key only if its last
 * eight characters are the CRC-32 of everything before them. Keys of earlier releases begin with `pk_`.
 */
function newSecret(service: string): string {
  const secret = `${service}_${randomBytes(32).toString('base64url')}`
  return secret + checksumOf(secret)
}

function checksumOf(secret: string): string {
  return crc32(secret).toString(16).padStart(8, '0')
}

/** Whether the text may be a key that was issued: a mistyped one, or one of another service, lacks the checksum. */
export function hasChecksum(text: string): boolean {
  return checksumOf(text.slice(0, -checksumLength)) === text.slice(-checksumLength)
}

/** Whether there was such a key. */
export function revokeKey(path: string, id: string): boolean {
  return changeKeys(path, (keys) => (keys.some((key) => key.id === id) ? keys.filter((key) => key.id !== id) : keys))
}
