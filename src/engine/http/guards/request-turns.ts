import { FairQueue } from '../../lib/fair-queue.ts'

/** How much of one turn of the event loop goes to requests that begin, in milliseconds. */
const beginMs = 5
/** So many begin before that counts: to know when a turn is over costs a turn of its own. */
const uncountedMax = 16

/**
 * Lets requests begin. Most of its work a request causes before it waits for anything: if all that have arrived began in
 * one turn of the event loop, everything else would wait for all of them, as often as it needs a turn. So what a turn
 * has no time for begins in later ones, where owners of API keys take turns.
 */
export class RequestTurns {
  readonly #waiting = new FairQueue<() => void>()
  #isOpen = false
  #endsAtMs = 0
  #uncounted = 0

  take(owner: string, begin: () => void): void {
    if (this.#mayBegin()) begin()
    else this.#waiting.add(owner, begin)
  }

  #mayBegin(): boolean {
    if (!this.#isOpen) {
      if (++this.#uncounted < uncountedMax) return true
      this.#open()
    }
    return this.#waiting.size === 0 && performance.now() < this.#endsAtMs
  }

  #open(): void {
    this.#isOpen = true
    this.#uncounted = 0
    this.#endsAtMs = performance.now() + beginMs
    setImmediate(() => {
      this.#isOpen = false
      if (this.#waiting.size > 0) this.#beginSome()
    })
  }

  /** One at least, however late it is. */
  #beginSome(): void {
    this.#open()
    do this.#waiting.take()?.item()
    while (this.#waiting.size > 0 && performance.now() < this.#endsAtMs)
  }
}
