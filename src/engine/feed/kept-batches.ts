import type { FeedBatch, FeedEvent } from './feed-batch.ts'

/** Each partition has a batch that is being read, and the one before it. */
const keptMaxOf = (partitions: number) => Math.max(64, 2 * partitions)
const keptMs = 10_000
/** Counts the events of all batches that are kept. */
const keptCharactersMax = 16_000_000
/** What an event takes besides its texts. */
const eventCharacters = 200

interface Kept {
  readonly reading: Promise<FeedBatch>
  readonly generation: string | undefined
  readonly since: number
  readonly characters: number
}

/** Batches for followers that arrive later, by the names of their places. The oldest goes first. */
export class KeptBatches {
  readonly #kept = new Map<string, Kept>()
  readonly #keptMax: number
  #characters = 0

  constructor(partitions: number) {
    this.#keptMax = keptMaxOf(partitions)
  }

  at(name: string, generation: string | undefined): Promise<FeedBatch> | undefined {
    const kept = this.#kept.get(name)
    if (kept === undefined || kept.generation !== generation) return undefined
    return performance.now() - kept.since < keptMs ? kept.reading : undefined
  }

  /** Without events it is still being read. */
  keep(
    name: string,
    generation: string | undefined,
    reading: Promise<FeedBatch>,
    events: readonly FeedEvent[] = [],
  ): void {
    this.forget(name)
    const characters = charactersOf(events)
    this.#kept.set(name, { reading, generation, since: performance.now(), characters })
    this.#characters += characters
    const [oldest = name] = this.#kept.keys()
    if (this.#kept.size > this.#keptMax) this.forget(oldest)
    if (this.#characters > keptCharactersMax) this.#forgetCharacters()
  }

  forget(name: string): void {
    this.#characters -= this.#kept.get(name)?.characters ?? 0
    this.#kept.delete(name)
  }

  /** What is being read, or has no events, stays: others wait for it, and it takes up nothing. */
  #forgetCharacters(): void {
    for (const [name, { characters }] of this.#kept) {
      if (this.#characters <= keptCharactersMax) return
      if (characters > 0) this.forget(name)
    }
  }
}

/** Each is sent as a text of its own, about as long as that of the log. */
function charactersOf(events: readonly FeedEvent[]): number {
  return events.reduce((sum, { json }) => sum + 2 * json.length + eventCharacters, 0)
}
