import { withTimeout } from '../lib/with-timeout.ts'

/** Runs the work under each name one piece at a time, in order of arrival. */
export class Turns {
  /** Each name has a promise that resolves once all work under it is done. */
  readonly #tails = new Map<string, Promise<void>>()

  /** How many names have work. */
  get size(): number {
    return this.#tails.size
  }

  /**
   * Rejects with `late`, without starting the work, if its turn does not come in time. The work is told whether it had to
   * wait for its turn.
   */
  async take<T>(name: string, waitMs: number, work: (hasWaited: boolean) => Promise<T>, late: () => Error): Promise<T> {
    const before = this.#tails.get(name)
    const { promise: done, resolve: end } = Promise.withResolvers<void>()
    this.#add(name, before === undefined ? done : before.then(() => done))
    try {
      if (before !== undefined) await withTimeout(waitMs, before, late)
      return await work(before !== undefined)
    } finally {
      end()
    }
  }

  #add(name: string, tail: Promise<void>): void {
    this.#tails.set(name, tail)
    void tail.then(() => {
      if (this.#tails.get(name) === tail) this.#tails.delete(name)
    })
  }
}
