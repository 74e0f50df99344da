import { ServiceError } from '../../../src/lib/errors.ts'
import type { Checkpoint } from '../../../src/read-models/checkpoint.ts'
import type {
  Contents,
  DecidedKeys,
  Entries,
  ParkedEvents,
  ParkedThere,
  Place,
} from '../../../src/read-models/inspection.ts'
import type { KeyDecision } from '../../../src/read-models/key-decision.ts'
import { Listeners } from '../../../src/read-models/listeners.ts'
import type {
  ActiveGeneration,
  ApplyResult,
  Batch,
  Generation,
  ParkedEvent,
  PartitionState,
  RangeAnswer,
  RangeQuery,
  ReadModels,
  ReadModelsListener,
} from '../../../src/read-models/read-models.ts'
import type { StoredGeneration, StoredVersion } from '../../../src/read-models/upkeep.ts'
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

  active(): Promise<ActiveGeneration | undefined> {
    return this.#ask((data) => data.active())
  }

  start(generation: Generation, instead: string | undefined): Promise<void> {
    return this.#ask((data) => data.start(generation, instead))
  }

  checkpoints(generation: string): Promise<ReadonlyMap<number, Checkpoint> | undefined> {
    return this.#ask((data) => data.checkpoints(generation))
  }

  partitionStates(generation: string, partitions: readonly number[]): Promise<Map<number, PartitionState> | undefined> {
    return this.#ask((data) => data.partitionStates(generation, partitions))
  }

  parkedUnder(generation: string, partition: number, subject: string): Promise<readonly ParkedEvent[]> {
    return this.#ask((data) => data.parkedUnder(generation, partition, subject))
  }

  apply(generation: string, batch: Batch): Promise<ApplyResult> {
    return this.#ask((data) => data.apply(generation, batch))
  }

  range(generation: string, query: RangeQuery): Promise<RangeAnswer> {
    return this.#ask((data) => data.range(generation, query))
  }

  decision(generation: string, key: string): Promise<KeyDecision | undefined> {
    return this.#ask((data) => data.decision(generation, key))
  }

  contents(generation: string): Promise<Contents | undefined> {
    return this.#ask((data) => data.contents(generation))
  }

  entries(...query: Parameters<ReadModels['entries']>): Promise<Entries | undefined> {
    return this.#ask((data) => data.entries(...query))
  }

  decisions(generation: string, from: string, limit: number): Promise<DecidedKeys | undefined> {
    return this.#ask((data) => data.decisions(generation, from, limit))
  }

  parked(generation: string, from: string, limit: number): Promise<ParkedEvents | undefined> {
    return this.#ask((data) => data.parked(generation, from, limit))
  }

  parkedAt(generation: string, place: Place): Promise<ParkedThere | undefined> {
    return this.#ask((data) => data.parkedAt(generation, place))
  }

  generations(): Promise<readonly StoredGeneration[]> {
    return this.#ask((data) => data.generations())
  }

  build(generation: Generation): Promise<Generation> {
    return this.#ask((data) => data.build(generation))
  }

  activate(name: string): ReturnType<ReadModels['activate']> {
    return this.#ask((data) => data.activate(name))
  }

  remove(name: string): Promise<boolean> {
    return this.#ask((data) => data.remove(name))
  }

  renew(): Promise<void> {
    return this.#ask((data) => data.renew())
  }

  versions(): Promise<readonly StoredVersion[]> {
    return this.#ask((data) => data.versions())
  }

  prune(graceMs: number): Promise<readonly string[]> {
    return this.#ask((data) => data.prune(graceMs))
  }

  listen(listener: ReadModelsListener): () => void {
    return this.#listeners.add(listener)
  }

  async close(): Promise<void> {}

  /** A request that arrives has its effect, even when its reply then meets a store that is away. */
  async #ask<T>(request: (data: ReadModels) => Promise<T>): Promise<T> {
    const answer = await this.#wire.carry(async () => {
      this.#failIfAway()
      return request(this.#shared.data)
    })
    this.#failIfAway()
    return answer
  }

  #failIfAway(): void {
    if (this.#isAway) throw new ServiceError('read_model_unavailable', 'The read models are away.')
  }
}
