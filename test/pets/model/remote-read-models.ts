import { ServiceError } from '../../../src/errors.ts'
import type { Checkpoint } from '../../../src/read-models/checkpoint.ts'
import type { KeyDecision } from '../../../src/read-models/key-decision.ts'
import { Listeners } from '../../../src/read-models/listeners.ts'
import type {
  ApplyResult,
  Batch,
  Generation,
  PartitionState,
  RangeAnswer,
  RangeQuery,
  ReadModels,
  ReadModelsListener,
} from '../../../src/read-models/read-models.ts'
import type { SharedReadModels } from './shared-read-models.ts'
import type { Wire } from './wire.ts'

/** The read models as one process reaches them. */
export class RemoteReadModels implements ReadModels {
  readonly #shared: SharedReadModels
  readonly #wire: Wire
  readonly #listeners = new Listeners({ connected: true })
  #isAway = false

  constructor(shared: SharedReadModels, wire: Wire) {
    this.#shared = shared
    this.#wire = wire
    const endListening = shared.listeners.add({
      progress: (generation, at) => {
        if (!this.#isAway) this.#listeners.progress(generation, at)
      },
      connected() {},
      disconnected() {},
    })
    void wire.end.then(endListening)
  }

  goAwayFor(ms: number): void {
    this.#isAway = true
    this.#listeners.disconnected()
    setTimeout(() => this.comeBack(), ms)
  }

  comeBack(): void {
    if (!this.#isAway) return
    this.#isAway = false
    this.#listeners.connected()
  }

  active(): Promise<Generation | undefined> {
    return this.#ask(() => this.#shared.data.active())
  }

  start(generation: Generation, instead: string | undefined): Promise<void> {
    return this.#ask(() => this.#shared.data.start(generation, instead))
  }

  checkpoints(generation: string): Promise<ReadonlyMap<number, Checkpoint> | undefined> {
    return this.#ask(() => this.#shared.data.checkpoints(generation))
  }

  partitionStates(generation: string, partitions: readonly number[]): Promise<Map<number, PartitionState> | undefined> {
    return this.#ask(() => this.#shared.data.partitionStates(generation, partitions))
  }

  apply(generation: string, batch: Batch): Promise<ApplyResult> {
    return this.#ask(() => this.#shared.data.apply(generation, batch))
  }

  range(generation: string, query: RangeQuery): Promise<RangeAnswer> {
    return this.#ask(() => this.#shared.data.range(generation, query))
  }

  decision(generation: string, key: string): Promise<KeyDecision | undefined> {
    return this.#ask(() => this.#shared.data.decision(generation, key))
  }

  listen(listener: ReadModelsListener): () => void {
    return this.#listeners.add(listener)
  }

  async close(): Promise<void> {}

  /** A request that arrives has its effect, even when its reply then meets a store that is away. */
  async #ask<T>(request: () => Promise<T>): Promise<T> {
    const answer = await this.#wire.carry(async () => {
      this.#failIfAway()
      return request()
    })
    this.#failIfAway()
    return answer
  }

  #failIfAway(): void {
    if (this.#isAway) throw new ServiceError('read_model_unavailable', 'The read models are away.')
  }
}
