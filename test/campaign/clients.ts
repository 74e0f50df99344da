import { setTimeout as delay } from 'node:timers/promises'
import { until } from '../brokers/ready.ts'
import type { Random } from '../lib/random.ts'
import type { Api, Recorder } from './recorder.ts'
import type { Workload } from './workload.ts'

const finishMs = 30_000

/** What clients of one kind share. */
export interface ClientOptions {
  readonly recorder: Recorder
  readonly instances: readonly Api[]
  readonly apiKey: string
  readonly random: Random
}

export interface WorkingOptions extends ClientOptions {
  readonly workload: Pick<Workload, 'act'> & Partial<Workload>
  /** How long each pauses between two requests, on average. */
  readonly thinkMs: number
}

/** Clients who ask for more, whatever they are answered; most of them pass on their tokens. */
export class Clients {
  readonly #options: WorkingOptions
  readonly #done: Promise<unknown>
  /** How many turns each has begun. */
  readonly #turns: number[]
  #isStopped = false
  /** Raised to have every session begin anew. */
  #era = 0

  constructor(options: WorkingOptions, count: number) {
    this.#options = options
    this.#turns = Array.from({ length: count }, () => 0)
    this.#done = Promise.all(Array.from({ length: count }, (_, index) => this.#live(index)))
    this.#done.catch(() => {}) // told by `stop`
  }

  /** Every session forgets its token. Tags, and requests that are sent again under their key, outlive what the log loses. */
  beginAnew(): void {
    this.#era++
  }

  /** Resolves once nobody writes any more, until `write`. */
  async onlyRead(): Promise<void> {
    this.#options.workload.onlyReads = true
    const before = [...this.#turns]
    await until('nobody writes', finishMs, async () => this.#turns.every((turns, each) => turns > (before[each] ?? 0)))
  }

  write(): void {
    this.#options.workload.onlyReads = false
  }

  /** Resolves once everybody has their last answer. */
  async stop(): Promise<void> {
    this.#isStopped = true
    await this.#done
  }

  async #live(index: number): Promise<void> {
    const { recorder, instances, apiKey, random, workload, thinkMs } = this.#options
    let era = this.#era
    let token: string | undefined
    while (!this.#isStopped) {
      this.#turns[index] = (this.#turns[index] ?? 0) + 1
      const turn = workload.act()
      for (let step = turn.next(); !step.done && !this.#isStopped; ) {
        if (era !== this.#era) [era, token] = [this.#era, undefined]
        const session = index % 3 === 2 ? undefined : `${index}.${era}`
        const own = { session, apiKey, ...(token !== undefined && { token }) }
        const answer = await recorder.ask(random.pick(instances), { ...step.value, ...own })
        if (session !== undefined) token = answer?.tokenAfter ?? token
        if (answer !== undefined && era === this.#era) workload.tell?.(answer)
        await delay(random.below(thinkMs * 2))
        step = turn.next(answer)
      }
    }
  }
}
