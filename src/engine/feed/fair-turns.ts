import { FairQueue } from '../lib/fair-queue.ts'

/**
 * How many pieces of work are in progress at once. Most of each is work of this process: more at once would take as long,
 * and everything else longer.
 */
const inProgressMax = 2

/**
 * Bounds the work that requests cause beyond a look at the read models: one piece at once of each owner of API keys, and
 * two of all together. Owners take turns, and between the beginnings of two pieces everything else has a turn of the
 * event loop.
 */
export class FairTurns {
  readonly #waiting = new FairQueue<() => void>()
  /** The owners of what is in progress. */
  readonly #busy = new Set<string>()
  #hasJustBegun = false

  /** Does a piece of work once it is its owner's turn. */
  async take<T>(owner: string, work: () => Promise<T>): Promise<T> {
    const { promise: turn, resolve: begin } = Promise.withResolvers<void>()
    this.#waiting.add(owner, begin)
    this.#beginNext()
    await turn
    try {
      return await work()
    } finally {
      this.#busy.delete(owner)
      this.#beginNext()
    }
  }

  #beginNext(): void {
    if (this.#hasJustBegun || this.#busy.size === inProgressMax) return
    const next = this.#waiting.take((owner) => !this.#busy.has(owner))
    if (next === undefined) return
    this.#busy.add(next.owner)
    next.item()
    this.#hasJustBegun = true
    setImmediate(() => {
      this.#hasJustBegun = false
      this.#beginNext()
    })
  }
}
