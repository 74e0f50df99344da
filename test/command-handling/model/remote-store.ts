import { ServiceError } from '../../../src/lib/errors.ts'
import { Listeners } from '../../../src/read-models/listeners.ts'
import type { ReadModelStore } from '../../../src/read-models/store.ts'
import type { Wire } from './wire.ts'

/** The read models as one process reaches them. */
export class RemoteStore implements ReadModelStore {
  readonly reads: ReadModelStore['reads']
  readonly projection: ReadModelStore['projection']
  readonly generations: ReadModelStore['generations']
  readonly inspection: ReadModelStore['inspection']
  readonly warnings = []
  readonly #wire: Wire
  readonly #listeners = new Listeners({ connected: true })
  #isAway = false
  #messagesToLose = 0

  constructor(shared: ReadModelStore, wire: Wire) {
    this.#wire = wire
    this.reads = this.#remote(shared.reads)
    this.projection = this.#remote(shared.projection)
    this.generations = { ...this.#remote(shared.generations), listen: (listener) => this.#listeners.add(listener) }
    this.inspection = this.#remote(shared.inspection)
    const endListening = shared.generations.listen({
      progress: (generation, progress) => {
        if (this.#messagesToLose > 0) this.#messagesToLose--
        else if (!this.#isAway) this.#listeners.progress(generation, progress)
      },
      connected() {},
      disconnected() {},
    })
    void wire.end.then(endListening)
  }

  loseMessages(count: number): void {
    this.#messagesToLose += count
  }

  goAwayFor(ms: number): void {
    this.#isAway = true
    this.#listeners.disconnected()
    setTimeout(() => this.heal(), ms)
  }

  heal(): void {
    this.#messagesToLose = 0
    if (!this.#isAway) return
    this.#isAway = false
    this.#listeners.connected()
  }

  async close(): Promise<void> {}

  #remote<Port extends object>(port: Port): Port {
    const get =
      (target: Port, name: string | symbol) =>
      (...args: unknown[]) => {
        const method = Reflect.get(target, name) as (...args: unknown[]) => Promise<unknown>
        return this.#ask(() => method(...args))
      }
    return new Proxy(port, { get })
  }

  /** A request that arrives has its effect, even when its reply then meets a store that is away. */
  async #ask<T>(request: () => Promise<T>): Promise<T> {
    const answer = await this.#wire.carry(async () => {
      this.#failIfAway()
      return await request()
    })
    this.#failIfAway()
    return answer
  }

  #failIfAway(): void {
    if (this.#isAway) throw new ServiceError('read_model_unavailable', 'The read models are away.')
  }
}
