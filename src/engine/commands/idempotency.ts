import { hash } from 'node:crypto'
import { v5 as uuidv5 } from 'uuid'

/** Identifies repeated requests. It is part of the event, so that the log alone decides between duplicates. */
export interface Idempotency {
  /** 22 characters. The same for every request under one key; reveals nothing about the key. */
  readonly key: string
  /** 22 characters. The same for every request with the same content, however its JSON is written. */
  readonly fingerprint: string
}

const digestLength = 22 // 132 bits

export function idempotency(scope: readonly string[], content: readonly string[]): Idempotency {
  return { key: digest(scope), fingerprint: digest(content) }
}

function digest(parts: readonly string[]): string {
  return hash('sha256', JSON.stringify(parts), 'base64url').slice(0, digestLength)
}

const eventIds = '0d5e3a4c-7f0b-4f3e-9a53-5a3f0c1f6d52'

/**
 * The CloudEvents id of an event that begins a stream. All duplicates of a request share it, so that consumers can drop
 * them.
 */
export function eventIdOf({ key }: Idempotency): string {
  return uuidv5(key, eventIds)
}
