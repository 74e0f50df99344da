import { isDamagedFile } from '../../lib/errors/file-errors.ts'
import type { Offset } from '../event-log.ts'

/** The log is not as it was written, from `offset` on. */
export class DamagedLogError extends Error {
  override readonly name = 'DamagedLogError'
  readonly offset: Offset
  readonly reason: string

  constructor(offset: Offset, reason: string, cause?: unknown) {
    super(`The event log is damaged at offset ${offset} (${reason}): restore it from a backup.`, { cause })
    this.offset = offset
    this.reason = reason
  }
}

export function isGone(offset: Offset): DamagedLogError {
  return new DamagedLogError(offset, 'what was there is gone')
}

export function isNotTheLast(offset: Offset): DamagedLogError {
  return new DamagedLogError(offset, 'it is not what was last appended')
}

export function isBehindTheEnd(offset: Offset): DamagedLogError {
  return new DamagedLogError(offset, 'it is behind the end')
}

/**
 * An error of reading as the damage that it tells of: what the checksums find, and what SQLite itself cannot read at
 * `offset`. Undefined for any other error, which may pass.
 */
export function damageIn(error: unknown, offset: Offset): DamagedLogError | undefined {
  if (error instanceof DamagedLogError) return error
  const { code, message } = error as NodeJS.ErrnoException
  // A number beyond those that JavaScript has: none was stored.
  const isDamage = isDamagedFile(error) || code === 'ERR_OUT_OF_RANGE'
  return isDamage ? new DamagedLogError(offset, message, error) : undefined
}
