import { eventIn, type LogRecord, severalIn } from '../history.ts'
import type { Effect, Rule, ShownDocument } from '../service.ts'
import { membersOf } from '../values.ts'
import { type Book, bookAfter, flawOf, type LibraryEvent, ownOf } from './book.ts'

const valueBytesMax = 16 * 1024
const keyBytesMax = 128

/** The judge's own reading of docs/journal.md and of what the library says of itself. */
export class LibraryRule implements Rule {
  readonly #versions = new Map<string, number>()
  readonly #keys = new Set<string>()
  readonly #books = new Map<string, Book>()
  /** The loans and reservations that there are. */
  readonly #taken = new Set<string>()
  readonly #partitionFor: (key: string) => number

  constructor(partitionFor: (key: string) => number) {
    this.#partitionFor = partitionFor
  }

  versionOf(stream: string): number {
    return this.#versions.get(stream) ?? 0
  }

  take(record: LogRecord): Effect | undefined {
    const event = membersOf(eventIn(record))
    const stream = String(record.key)
    if (!this.#isOfStream(record)) return undefined
    if (event.streamversion !== this.versionOf(stream) + 1) return undefined
    const key = event.idempotencykey === undefined ? undefined : `${record.partition} ${event.idempotencykey}`
    if (key !== undefined && this.#keys.has(key)) return undefined
    const applied = this.#apply(stream, record.partition, event)
    if (applied === 'taken') return undefined
    this.#versions.set(stream, this.versionOf(stream) + 1)
    if (key !== undefined) this.#keys.add(key)
    if (applied === undefined) return undefined
    this.#books.set(stream, applied.book)
    for (const name of applied.added) this.#taken.add(name)
    return applied.effect
  }

  #isOfStream(record: LogRecord): boolean {
    const { partition, key, value } = record
    const { specversion, type, subject } = membersOf(eventIn(record))
    const isRead = value !== null && Buffer.byteLength(value) <= valueBytesMax && specversion === '1.0'
    const isNamed =
      key !== null && subject === key && Buffer.byteLength(key) <= keyBytesMax && !key.startsWith('books/')
    const isOfLibrary = typeof type === 'string' && /^library\.(?!EventDiscarded\.v1$)/.test(type)
    return isRead && isNamed && isOfLibrary && this.#partitionFor(key) === partition
  }

  /** All events of a record, or none of them. */
  #apply(stream: string, partition: number, event: Readonly<Record<string, unknown>>) {
    const several = severalIn(event)?.map(membersOf)
    const ids = new Set(several?.map(({ id }) => id))
    if (several !== undefined && (ids.size < 2 || ids.size < several.length)) return undefined
    const events = (several ?? [event]).map(({ type, data }) => ({ type, ...membersOf(data) }) as LibraryEvent)
    const before = this.#books.get(stream)
    const shown = new Map<string, ShownDocument>()
    const added: string[] = []
    let book = before
    for (const each of events) {
      const next = bookAfter(book, each)
      if (next === undefined || String(next.book.id) !== stream) return undefined
      book = next.book
      for (const document of next.shown) shown.set(`${document.collection} ${document.document.id}`, document)
      if (next.adds === undefined) continue
      if (this.#partitionFor(String(next.adds.id)) !== partition) return undefined
      added.push(`${next.adds.collection} ${next.adds.id}`)
    }
    if (book === undefined) return undefined
    if (added.some((name, at) => this.#taken.has(name) || added.indexOf(name) < at)) return 'taken'
    const flaw = flawOf(before, events, String(event.time))
    const effect = { type: String(event.type), shown: [...shown.values(), ...ownOf(book)], ...(flaw && { flaw }) }
    return { book, added, effect }
  }
}
