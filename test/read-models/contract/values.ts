import type { IdempotencyRecord } from '../../../src/read-models/idempotency-record.ts'
import { encodeRow } from '../../../src/read-models/stream-row.ts'

export const greatestId = Number.MAX_SAFE_INTEGER

/** Names of streams and keys that are hard to tell apart, or that would break a format that does not expect them. */
export const strangeTexts: readonly string[] = [
  ...'| |/|a|a/|a/1|a/1/2|ab|0/0|0|1|10|-1|NaN|{a}|}{|*|[a-z]|a:b|a,b|é|e\u0301|🐕|\u{10ffff}|\ufeff|\u2028|"\\\'|%s'.split(
    '|',
  ),
  ...'a\0|\0a|\0|a\r\nb|__proto__|constructor'.split('|'),
  ...['x', 'y'].map((end) => 'x'.repeat(99_999) + end),
]

/** `count` numbers from `first` on. */
export function numbers(count: number, first = 1): number[] {
  return Array.from({ length: count }, (_, i) => first + i)
}

export function jsonOf(id: number, text = ''): string {
  return `{"id":${id},"text":${JSON.stringify(text)}}`
}

export function rowText(version: number, hidden = 'hidden'): string {
  return encodeRow({ version, offsets: [version - 1], hidden })
}

export function recordOf(key: string, offset: number, partition = 0): IdempotencyRecord {
  const what = { stream: '7', id: 12, version: 3, time: '2026-11-20T10:00:00.000Z', parked: offset % 2 === 1 }
  return { partition, key, offset, fingerprint: `fingerprint of ${offset}`, ...what }
}
