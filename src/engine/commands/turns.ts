import { FairQueue } from '../lib/fair-queue.ts'
import { withTimeout } from '../lib/with-timeout.ts'

export interface Waiter {
  /** An owner of API keys. */
  readonly owner: string
  readonly waitMs: number
  readonly late: () => Error
}

/** Runs the work under each name one piece at a time. Owners take turns; the work of one comes in its order of arrival. */
export class Turns {
  /** What waits under each name that has work in progress. */
  readonly #waiting = new Map<string, FairQueue<() => void>>()

  /** How many names have work. */
  get size(): number {
    return this.#waiting.size
  }

  /**
   * Rejects with `late`, without starting the work, if its turn does not come in time. The work is told whether it had to
   * wait for its turn.
   */
  async take<T>(name: string, waiter: Waiter, work: (hasWaited: boolean) => Promise<T>): Promise<T> {
    const waiting = this.#waiting.get(name)
    if (waiting === undefined) this.#waiting.set(name, new FairQueue())
    else await turnIn(waiting, waiter)
    try {
      return await work(waiting !== undefined)
    } finally {
      this.#passOn(name)
    }
  }

  #passOn(name: string): void {
    const next = this.#waiting.get(name)?.take()
    if (next === undefined) this.#waiting.delete(name)
    else next.item()
  }
}

async function turnIn(queue: FairQueue<() => void>, { owner, waitMs, late }: Waiter): Promise<void> {
  const { promise, resolve: begin } = Promise.withResolvers<void>()
  queue.add(owner, begin)
  await withTimeout(waitMs, promise, () => {
    queue.remove(owner, begin)
    return late()
  })
}
