import { FairQueue } from '../../lib/fair-queue.ts'

/** How much of one turn of the event loop goes to requests that begin, in milliseconds. */
const beginMs = 5

/**
 * Lets requests begin, behind all that a turn of the event loop reads of its connections. Most of its work a request causes
 * before it waits for anything: if all that have arrived began in one turn, everything else would wait for all of them, as
 * often as it needs a turn. So what a turn has no time for begins in later ones, where owners of API keys take turns. What
 * begins together is answered one right after the other, which wakes a client on this machine once and not for each (decision
 * 0081).
 */
export class RequestTurns {
  readonly #waiting = new FairQueue<() => void>()
  #isScheduled = false

  /** Never begins it at once. */
  take(owner: string, begin: () => void): void {
    this.#waiting.add(owner, begin)
    this.#schedule()
  }

  #schedule(): void {
    if (this.#isScheduled) return
    this.#isScheduled = true
    setImmediate(() => {
      this.#isScheduled = false
      this.#beginSome()
      if (this.#waiting.size > 0) this.#schedule()
    })
  }

  /** One at least, however late it is. */
  #beginSome(): void {
    const endsAtMs = performance.now() + beginMs
    do this.#waiting.take()?.item()
    while (this.#waiting.size > 0 && performance.now() < endsAtMs)
  }
}
