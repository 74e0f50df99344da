import { FairQueue } from './fair-queue.ts'

/**
 * Does pieces of work, a few in each turn of the event loop, so that everything else has its turn between them. Those whose
 * work it is take turns.
 */
export class FewATurn {
  readonly #few: number
  readonly #waiting = new FairQueue<() => void>()
  #isScheduled = false

  constructor(few: number) {
    this.#few = few
  }

  /** Never does it at once. */
  add(whose: string, work: () => void): void {
    this.#waiting.add(whose, work)
    this.#schedule()
  }

  #schedule(): void {
    if (this.#isScheduled) return
    this.#isScheduled = true
    setImmediate(() => {
      this.#isScheduled = false
      for (let left = this.#few; left > 0; left--) this.#waiting.take()?.item()
      if (this.#waiting.size > 0) this.#schedule()
    })
  }
}
