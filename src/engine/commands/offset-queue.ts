import type { Offset } from '../log/event-log.ts'

/** Removed entries before the first one that are kept, so that removing one moves no others. */
const removedMax = 1000

/** Entries in the order of their offsets. It is fastest where they come and leave in that order. */
export class OffsetQueue<T extends { readonly position: { readonly offset: Offset } }> {
  readonly #entries: (T | undefined)[] = []
  #start = 0

  get size(): number {
    return this.#entries.length - this.#start
  }

  get first(): T | undefined {
    return this.#entries[this.#start]
  }

  add(entry: T): void {
    const isBefore = (other: T | undefined) => (other?.position.offset ?? 0) <= entry.position.offset
    const last = this.#entries.at(-1)
    if (this.size === 0 || isBefore(last)) this.#entries.push(entry)
    else this.#entries.splice(Math.max(this.#start, this.#entries.findLastIndex(isBefore) + 1), 0, entry)
  }

  /** Nothing happens if it is not there. */
  remove(entry: T): void {
    const at = this.#entries.indexOf(entry, this.#start)
    if (at > this.#start) this.#entries.splice(at, 1)
    else if (at === this.#start) this.#removeFirst()
  }

  #removeFirst(): void {
    this.#entries[this.#start++] = undefined
    if (this.#start <= removedMax && this.size > 0) return
    this.#entries.splice(0, this.#start)
    this.#start = 0
  }
}
