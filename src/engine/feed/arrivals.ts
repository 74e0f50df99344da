import type { Account, FeedBatch, FeedPlace } from './feed-batch.ts'
import type { SharedBatches } from './shared-batches.ts'

/** The batches of several partitions for one follower, as they come. */
export class Arrivals {
  readonly #batches: SharedBatches
  readonly #account: Account
  readonly #arrived: FeedBatch[] = []
  readonly #gone = new AbortController()
  #wake = Promise.withResolvers<void>()

  constructor(batches: SharedBatches, account: Account) {
    this.#batches = batches
    this.#account = account
  }

  expect(place: FeedPlace): void {
    void this.#batches.behind(place, this.#account, this.#gone.signal).then((batch) => {
      this.#arrived.push(batch)
      this.#wake.resolve()
    })
  }

  /** 'due' where none has come by then, by `performance.now()`. */
  async next(dueMs: number): Promise<FeedBatch | 'due' | 'ended'> {
    const timer = setTimeout(() => this.#wake.resolve(), Math.max(0, dueMs - performance.now()))
    await this.#wake.promise
    clearTimeout(timer)
    if (this.#gone.signal.aborted) return 'ended'
    const batch = this.#arrived.shift()
    if (this.#arrived.length === 0) this.#wake = Promise.withResolvers()
    return batch ?? 'due'
  }

  end(): void {
    this.#gone.abort()
    this.#wake.resolve()
  }
}
