import type { Offset } from '../event-log/event-log.ts'

/** An end offset, and when it was first observed. */
interface SeenEnd {
  readonly atMs: number
  readonly end: Offset
}

/**
 * Tells for how long one partition has been behind: since the oldest unprocessed end offset was first observed. It knows
 * what it was shown and nothing before.
 */
export class LagHistory {
  readonly #seenMax: number
  /** Rising ends beyond the position. */
  #seen: SeenEnd[] = []
  /** Ends seen less than this after another one are taken as seen with it. */
  #resolutionMs = 0

  /** At most `seenMax` ends are kept: those of a longer history in coarser steps, which make it look longer, not shorter. */
  constructor(seenMax = 512) {
    this.#seenMax = seenMax
  }

  /** Milliseconds, 0 when nothing is left to apply. */
  observe(atMs: number, end: Offset, next: Offset): number {
    if (end < (this.#seen.at(-1)?.end ?? 0)) this.#seen = [] // another log is in its place
    this.#seen = this.#seen.filter((seen) => seen.end > next)
    if (this.#seen.length === 0) this.#resolutionMs = 0
    if (end > (this.#seen.at(-1)?.end ?? next)) this.#add({ atMs, end })
    const [first] = this.#seen
    return first === undefined ? 0 : atMs - first.atMs
  }

  #add({ atMs, end }: SeenEnd): void {
    const last = this.#seen.at(-1)
    if (last !== undefined && atMs - last.atMs < this.#resolutionMs) {
      this.#seen[this.#seen.length - 1] = { atMs: last.atMs, end }
      return
    }
    this.#seen.push({ atMs, end })
    if (this.#seen.length > this.#seenMax) this.#coarsen()
  }

  #coarsen(): void {
    const seen = this.#seen
    this.#resolutionMs = (2 * ((seen.at(-1)?.atMs ?? 0) - (seen[0]?.atMs ?? 0))) / this.#seenMax
    this.#seen = []
    for (const each of seen) this.#add(each)
  }
}
