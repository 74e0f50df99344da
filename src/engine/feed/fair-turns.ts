/**
 * How many pieces of work are in progress at once. Most of each is work of this process: more at once would take as long,
 * and everything else longer.
 */
const ofOwnerMax = 1
const ofAllMax = 2

interface Pieces {
  running: number
  readonly waiting: (() => void)[]
}

/**
 * Bounds the work that requests cause beyond a look at the read models: so many pieces at once of each owner of API keys,
 * and of all together. Owners take turns, and between the beginnings of two pieces everything else has a turn of the
 * event loop.
 */
export class FairTurns {
  /** In the order of their turns: an owner that had one comes last. */
  readonly #owners = new Map<string, Pieces>()
  #running = 0
  #hasJustBegun = false

  /** Does a piece of work once it is its owner's turn. */
  async take<T>(owner: string, work: () => Promise<T>): Promise<T> {
    await this.#turnOf(owner)
    try {
      return await work()
    } finally {
      this.#end(owner)
    }
  }

  #turnOf(owner: string): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    const pieces = this.#owners.get(owner) ?? { running: 0, waiting: [] }
    pieces.waiting.push(resolve)
    this.#owners.set(owner, pieces)
    this.#beginNext()
    return promise
  }

  #beginNext(): void {
    if (this.#hasJustBegun || this.#running === ofAllMax) return
    for (const [owner, pieces] of this.#owners) {
      if (pieces.running === ofOwnerMax || pieces.waiting.length === 0) continue
      this.#owners.delete(owner)
      this.#owners.set(owner, pieces)
      this.#begin(pieces)
      return
    }
  }

  #begin(pieces: Pieces): void {
    this.#running++
    pieces.running++
    pieces.waiting.shift()?.()
    this.#hasJustBegun = true
    setImmediate(() => {
      this.#hasJustBegun = false
      this.#beginNext()
    })
  }

  #end(owner: string): void {
    const pieces = this.#owners.get(owner)
    if (pieces === undefined) throw new Error(`nothing of ${owner} is in progress`)
    this.#running--
    pieces.running--
    if (pieces.running + pieces.waiting.length === 0) this.#owners.delete(owner)
    this.#beginNext()
  }
}
