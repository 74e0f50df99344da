import { setTimeout as delay } from 'node:timers/promises'
import type { Logger } from 'pino'
import type { RecordBatch } from '../event-log/event-log.ts'
import type { Checkpoint } from '../read-models/checkpoint.ts'
import type { ProjectionStore } from '../read-models/projection-store.ts'
import { classify, type Rules } from './classify.ts'
import { Lookup } from './lookup.ts'
import { readRecord } from './record-content.ts'

const eventsPerApplyMax = 500
/** Between two tries while another generation is about to take over. */
const laterMs = 5

export interface ApplierOptions<State, Event> extends Rules<State, Event> {
  readonly store: ProjectionStore
  readonly logger: Logger
}

/** Reads records, tells what becomes of them, and has the store apply that. */
export class Applier<State, Event> {
  readonly #options: ApplierOptions<State, Event>

  constructor(options: ApplierOptions<State, Event>) {
    this.#options = options
  }

  /**
   * Applies what a batch has beyond the checkpoint of its partition. Resolves to the new checkpoint, or to undefined where
   * the partition is not at that checkpoint. Throws ServiceError read_model_unavailable.
   */
  async apply(
    generation: string,
    checkpoint: Checkpoint,
    { partition, records, next }: RecordBatch,
  ): Promise<Checkpoint | undefined> {
    const fresh = records.findIndex(({ offset }) => offset >= checkpoint.next)
    let reached: Checkpoint | undefined = checkpoint
    for (let at = fresh; at >= 0 && at < records.length && reached; at += eventsPerApplyMax) {
      const slice = records.slice(at, at + eventsPerApplyMax)
      const end = records[at + eventsPerApplyMax]?.offset ?? next
      reached = await this.#applySlice(generation, reached, { partition, records: slice, next: end })
    }
    if (reached === undefined || reached.next >= next) return reached
    // Offsets without a record move the position too, or it would never reach the end of the log.
    return await this.#applySlice(generation, reached, { partition, records: [], next })
  }

  async #applySlice(
    generation: string,
    expected: Checkpoint,
    { partition, records, next }: Omit<RecordBatch, 'from'>,
  ): Promise<Checkpoint | undefined> {
    const { store } = this.#options
    const contents = records.map((record) => readRecord(this.#options, partition, record))
    const lookup = new Lookup<Event>({ ...this.#options, generation, partition, expected })
    let isAsExpected = await lookup.lookUp(contents)
    while (isAsExpected) {
      const batch = classify({ partition, contents, lastRecord: records.at(-1), next }, expected, lookup, this.#options)
      const result = await store.apply(generation, batch)
      if (result.outcome === 'applied') return this.#report(expected, batch.checkpoint, partition)
      if (result.outcome === 'exist') isAsExpected = await lookup.learn(result)
      else if (result.outcome === 'later') await delay(laterMs)
      else isAsExpected = false
    }
    return undefined
  }

  #report(before: Checkpoint, after: Checkpoint, partition: number): Checkpoint {
    const difference = (name: keyof Checkpoint['counts']) => Math.max(0, after.counts[name] - before.counts[name])
    const [superseded, duplicate] = [difference('superseded'), difference('duplicate')]
    const [parked, skipped] = [difference('parked'), difference('skipped')]
    if (superseded + duplicate + parked + skipped > 0) {
      const level = parked + skipped > 0 ? 'warn' : 'info' // rivals are nothing to worry about
      const figures = { partition, from: before.next, to: after.next, superseded, duplicate, parked, skipped }
      this.#options.logger[level](figures, 'records not applied')
    }
    return after
  }
}
