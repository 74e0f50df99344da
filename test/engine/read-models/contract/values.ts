import { encodeEntry, encodeRow, type IdempotencyRecord } from '../../../../src/engine/read-models/stored-texts.ts'
import { chunkId, chunksOf, versionsPerChunk } from '../../../../src/engine/read-models/stream-history.ts'

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

/** The event `event n` has version n, at the offset n - 1. */
export const entryOf = (version: number) => encodeEntry(version - 1, `event ${version}`)

export function rowText(version: number, hidden = 'hidden'): string {
  const first = versionsPerChunk * chunksOf(version) + 1
  const entries = numbers(version - first + 1, first).map(entryOf)
  return encodeRow({ version, isRemoved: false, entries, hidden })
}

/** A chunk of the history of a stream, as it is stored. */
export function historyOf(stream: string, chunk: number): readonly [id: string, text: string] {
  const entries = numbers(versionsPerChunk, versionsPerChunk * chunk + 1).map(entryOf)
  return [chunkId(stream, chunk), entries.join(',')]
}

export function recordOf(key: string, offset: number, partition = 0): IdempotencyRecord {
  const what = { stream: '7', id: 12, version: 3, time: '2026-11-20T10:00:00.000Z', parked: offset % 2 === 1 }
  return { partition, key, offset, fingerprint: `fingerprint of ${offset}`, ...what }
}
