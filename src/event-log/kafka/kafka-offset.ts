import type { Offset } from '../event-log.ts'

/** An offset in the decimal text of kafkajs. Throws beyond 2^53 - 1, where a number would no longer be exact. */
export function toOffset(text: string): Offset {
  const offset = Number(text)
  if (text !== '' && Number.isSafeInteger(offset) && offset >= 0) return offset
  throw new RangeError(`not an offset from 0 to 2^53 - 1: ${text}`)
}
