import { setTimeout as delay } from 'node:timers/promises'
import type { Random } from './random.ts'
import type { Recorder } from './recorder.ts'
import type { Supervised } from './system/supervised.ts'
import { Workload } from './workload.ts'

const thinkMs = 8

export interface ClientOptions {
  readonly recorder: Recorder
  readonly instances: readonly Supervised[]
  readonly apiKey: string
  readonly random: Random
}

/** Clients who ask for more, whatever they are answered; most of them pass on their tokens. */
export class Clients {
  readonly #options: ClientOptions
  readonly #workload: Workload
  readonly #done: Promise<unknown>
  #isStopped = false
  /** Raised to have every session begin anew. */
  #era = 0

  constructor(options: ClientOptions, count: number) {
    this.#options = options
    this.#workload = new Workload(options.random)
    this.#done = Promise.all(Array.from({ length: count }, (_, index) => this.#live(index)))
    this.#done.catch(() => {}) // told by `stop`
  }

  /** Every session forgets its token. */
  beginAnew(): void {
    this.#era++
    this.#workload.forgetTags()
  }

  /** Resolves once everybody has their last answer. */
  async stop(): Promise<void> {
    this.#isStopped = true
    await this.#done
  }

  async #live(index: number): Promise<void> {
    while (!this.#isStopped) await this.#liveIn(this.#era, index)
  }

  async #liveIn(era: number, index: number): Promise<void> {
    const { recorder, instances, apiKey, random } = this.#options
    const session = index % 3 === 2 ? undefined : `${index}.${era}`
    const isCurrent = () => era === this.#era && !this.#isStopped
    let token: string | undefined
    while (isCurrent()) {
      const turn = this.#workload.act()
      for (let step = turn.next(); !step.done && isCurrent(); ) {
        const own = { session, apiKey, ...(token !== undefined && { token }) }
        const answer = await recorder.ask(random.pick(instances), { ...step.value, ...own })
        if (session !== undefined) token = answer?.tokenAfter ?? token
        if (answer !== undefined && isCurrent()) this.#workload.tell(answer)
        await delay(random.below(thinkMs * 2))
        step = turn.next(answer)
      }
    }
  }
}
