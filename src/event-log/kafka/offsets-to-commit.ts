import type { Offset } from '../event-log.ts'

/**
 * What a consumer is to commit for tools that show how far a group is behind. Nothing reads it to go on from there, so it
 * may be late; but what is said must get there in the end, on an idle system too, and go back where the reader goes back.
 */
export class OffsetsToCommit {
  readonly #next = new Map<number, Offset>()
  readonly #committed = new Map<number, Offset>()

  /** The partitions held from now on. Of those kept nothing is forgotten, as nobody else can have moved them. */
  assigned(partitions: readonly number[]): void {
    for (const map of [this.#next, this.#committed]) {
      for (const partition of map.keys()) if (!partitions.includes(partition)) map.delete(partition)
    }
  }

  /** Everything before `next` is done. */
  done(partition: number, next: Offset): void {
    this.#next.set(partition, next)
  }

  /** Reading goes on from `offset`. */
  sought(partition: number, offset: Offset): void {
    // A reader that looks once more at the last record it had done, to see that it is the same, has not gone back. One
    // that has, by just this record, is told from it as soon as it gets on.
    if (this.#next.get(partition) === offset + 1) return
    this.#next.set(partition, offset)
  }

  /** What differs from what was committed, by partition. */
  pending(): readonly [number, Offset][] {
    return [...this.#next].filter(([partition, next]) => this.#committed.get(partition) !== next)
  }

  committed(offsets: readonly [number, Offset][]): void {
    for (const [partition, next] of offsets) if (this.#next.has(partition)) this.#committed.set(partition, next)
  }
}
