import { hash } from 'node:crypto'
import type { LogRecord, Offset } from './event-log.ts'

/** Identifies a record, as opposed to one that another log might hold at the same offset. */
export function recordIdentity({ key, value }: Pick<LogRecord, 'key' | 'value'>): string {
  const keyLength = Buffer.from(`${key?.length ?? -1} `)
  return hash('sha1', Buffer.concat([keyLength, key ?? Buffer.alloc(0), value ?? Buffer.alloc(0)]), 'base64url')
}

export function isSameRecord(record: LogRecord | undefined, known: { offset: Offset; identity: string }): boolean {
  return record?.offset === known.offset && recordIdentity(record) === known.identity
}
